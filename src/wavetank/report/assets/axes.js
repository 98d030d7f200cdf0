// Scales and ticks. A scale maps a value to 0..1; logarithmic ones show decades, linear ones start
// at zero, because bars and stems that do not are a lie.
function logScale(values) {
  const positive = values.filter((value) => value > 0);
  if (!positive.length) return linearScale([1]);
  let low = Math.log10(Math.min(...positive) * 0.8);
  let high = Math.log10(Math.max(...positive) * 1.25);
  if (high - low < 1) {
    const middle = (low + high) / 2;
    low = Math.min(low, middle - 0.5);
    high = Math.max(high, middle + 0.5);
  }
  const place = (value) => (Math.log10(Math.max(value, 1e-12)) - low) / (high - low);
  return { place, ticks: logTicks(low, high), log: true };
}

function logTicks(low, high) {
  const steps = high - low > 3.2 ? [1] : high - low > 1.6 ? [1, 3] : [1, 2, 5];
  const every = Math.max(1, Math.ceil((high - low) / 7));
  const ticks = [];
  for (let decade = Math.floor(low); decade <= high; decade += 1) {
    if (steps.length === 1 && decade % every) continue;
    for (const step of steps) {
      const at = Math.log10(step) + decade;
      if (at >= low && at <= high) ticks.push(step * 10 ** decade);
    }
  }
  return ticks;
}

function linearScale(values) {
  const most = Math.max(...values, 1e-9);
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const top = most * 1.06;
  const ticks = [];
  for (let tick = 0; tick <= top; tick += step) ticks.push(Number(tick.toPrecision(6)));
  return { place: (value) => value / top, ticks, log: false };
}

// Places of axis positions in 0..1: by logarithm where they span a factor of eight, else evenly.
function axisPlaces(positions, count) {
  const even = Array.from({ length: count }, (_, i) => (count === 1 ? 0.5 : i / (count - 1)));
  if (!positions.length || positions[0] <= 0) return even;
  const logs = positions.map(Math.log2);
  const span = logs[logs.length - 1] - logs[0];
  if (span >= 3) return logs.map((one) => (one - logs[0]) / span);
  const width = positions[positions.length - 1] - positions[0];
  return width ? positions.map((one) => (one - positions[0]) / width) : even;
}
