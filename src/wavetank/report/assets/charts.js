// Small multiples: one SVG per network, all panels of a figure on the same scale. A chart is text
// first and parsed once; points keep their row so that hovering and the keyboard find the values.
const METRICS = {
  throughput: { value: "throughput_bytes_per_s", low: "throughput_low", high: "throughput_high", text: byteRate, tick: byteRate },
  operations: { value: "operations_per_s", low: "operations_low", high: "operations_high", text: operationRate, tick: operationTick },
};
const PERCENTILES = [["p50", "latency_ns_p50"], ["p90", "latency_ns_p90"], ["p99", "latency_ns_p99"], ["p99.9", "latency_ns_p999"], ["max", "latency_ns_max"]];
const LANE = 15;

const col = (name, row) => DATA.columns[name][row];
const slotOf = (row) => DATA.systems[col("system", row)].slot;
const shown = (row) => !view.hidden.has(col("system", row));

// Throughput where there is payload, operations where there is none or where asked for.
function metricOf(rows) {
  const payload = rows.some((row) => col("throughput_bytes_per_s", row) !== null);
  return METRICS[payload ? view.metric : "operations"];
}

function valuesOf(rows, metric) {
  return rows.flatMap((row) => [metric.value, metric.low, metric.high].map((name) => col(name, row))).filter((value) => value !== null);
}

// The scale is the contenders'; a baseline that would squeeze them is told at the edge instead.
function scaleOf(rows, metric) {
  const contenders = valuesOf(rows.filter((row) => shown(row) && !isBaseline(row)), metric);
  const values = contenders.length ? contenders : valuesOf(rows.filter(shown), metric);
  const limits = rows.map((row) => limitOf(col("network", row), metric)).filter(Boolean);
  const most = Math.max(...values);
  const all = [...values, ...limits.filter((limit) => limit < 30 * most)];
  return view.scale === "log" ? logScale(all) : linearScale(all);
}

const isBaseline = (row) => slotOf(row) === -1;
const onScale = (scale, value) => scale.place(value) >= 0 && scale.place(value) <= 1.001;

function limitOf(network, metric) {
  return metric === METRICS.throughput ? DATA.networks[network].limit_bytes_per_s : null;
}

// Numeric axis: one line per system over file size, threads, ...
function linePanel(figure, panel, network, scale, metric, width) {
  const box = { left: 66, right: width - 14, top: 14, bottom: 206 };
  const places = axisPlaces(figure.positions, figure.ticks.length);
  const x = (i) => box.left + 12 + places[i] * (box.right - box.left - 24);
  const y = (value) => box.bottom - scale.place(value) * (box.bottom - box.top);
  const points = [], notes = [];
  let marks = "";
  for (const [slot, all] of bySystem(panel)) {
    const series = all.filter(([row]) => onScale(scale, col(metric.value, row)));
    if (series.length < all.length) notes.push(offScale(all.map(([row]) => row), metric));
    const line = series.map(([row, i]) => `${x(i).toFixed(1)},${y(col(metric.value, row)).toFixed(1)}`);
    marks += `<polyline class="series s${slot}" points="${line.join(" ")}" stroke-dasharray="${DASHES[slot]}"/>`;
    for (const [row, i] of series) {
      const at = [x(i), y(col(metric.value, row))];
      marks += whisker(slot, at[0], col(metric.low, row), col(metric.high, row), y, false);
      marks += repeatMarks(row, metric, slot, at[0], y, false);
      marks += dot(slot, at[0], at[1], col("steady", row) === false);
      points.push({ row, x: at[0], y: at[1] });
    }
  }
  const svg = yGrid(scale, box, y, metric.tick) + xTicks(figure.ticks, x, box) + limitLine(network, metric, y, box, false) + marks;
  return { svg, points, notes, width, height: box.bottom + 26 };
}

// Categories: one lane per system under the words of each combination.
function lanePanel(figure, panel, network, scale, metric, width) {
  const box = { left: 8, right: width - 78, top: 6, bottom: 0 };
  const x = (value) => box.left + Math.max(0, scale.place(value)) * (box.right - box.left);
  const points = [];
  let marks = "", top = box.top;
  figure.ticks.forEach((words, i) => {
    const rows = panel.rows.filter((row, k) => panel.x[k] === i && shown(row) && col(metric.value, row) !== null);
    if (words) marks += `<text class="category" x="${box.left}" y="${top + 13}">${escaped(words)}</text>`;
    top += 22;
    for (const row of rows) {
      const value = col(metric.value, row), slot = slotOf(row), at = [Math.min(x(value), box.right), top + LANE / 2];
      const beyond = scale.place(value) > 1.001 ? "› " : "";
      if (!scale.log) marks += `<line class="stem s${slot}" x1="${box.left}" x2="${at[0]}" y1="${at[1]}" y2="${at[1]}"/>`;
      marks += whisker(slot, at[1], col(metric.low, row), col(metric.high, row), x, true);
      marks += repeatMarks(row, metric, slot, at[1], (value) => Math.min(x(value), box.right), true);
      marks += dot(slot, at[0], at[1], col("steady", row) === false);
      marks += `<text class="value" x="${at[0] + 10}" y="${at[1] + 3.5}">${beyond}${metric.text(value)}</text>`;
      points.push({ row, x: at[0], y: at[1] });
      top += LANE;
    }
    top += 8;
  });
  box.bottom = top;
  let grid = "", free = -Infinity;
  for (const tick of scale.ticks) {
    const at = x(tick), words = plainTick(metric.tick(tick)), from = Math.max(0, at - words.length * 3.1);
    grid += `<line class="grid" x1="${at}" x2="${at}" y1="${box.top}" y2="${top}"/>`;
    if (from < free) continue;
    grid += `<text x="${from}" y="${top + 14}">${words}</text>`;
    free = from + words.length * 6.2 + 8;
  }
  return { svg: grid + limitLine(network, metric, x, box, true) + marks, points, notes: [], width, height: top + 20 };
}

// Latency by percentile, and the measured round trip as the yardstick.
function latencyPanel(panel, network, scale, width) {
  const box = { left: 58, right: width - 14, top: 12, bottom: 186 };
  const x = (i) => box.left + 12 + (i / (PERCENTILES.length - 1)) * (box.right - box.left - 24);
  const y = (value) => box.bottom - scale.place(value) * (box.bottom - box.top);
  const points = [], notes = [];
  let marks = "";
  for (const row of panel.rows.filter(shown)) {
    const slot = slotOf(row);
    const values = PERCENTILES.map(([, name]) => col(name, row));
    if (values[0] === null) continue;
    if (!values.every((value) => onScale(scale, value))) {
      notes.push(offScale([row], { value: "latency_ns_p50", text: duration }) + " at p50");
      continue;
    }
    marks += `<polyline class="series s${slot}" stroke-dasharray="${DASHES[slot]}" points="${values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}"/>`;
    values.forEach((value, i) => {
      marks += dot(slot, x(i), y(value), tooFew(row, i));
      points.push({ row, x: x(i), y: y(value), percentile: i });
    });
  }
  let rtt = "";
  const ns = DATA.networks[network].rtt_ns;
  if (ns && scale.place(ns) >= 0 && scale.place(ns) <= 1) rtt = rule(box.left, box.right, y(ns), "1 round trip");
  const svg = yGrid(scale, box, y, duration) + xTicks(PERCENTILES.map(([name]) => name), x, box) + rtt + marks;
  return { svg, points, notes, width, height: box.bottom + 26 };
}

// A percentile is the maximum in disguise when fewer operations than 1/(1-p) were seen.
function tooFew(row, i) {
  return col("operations", row) < [2, 10, 100, 1000, 0][i];
}

function offScale(rows, metric) {
  const values = rows.map((row) => col(metric.value, row)), low = Math.min(...values), high = Math.max(...values);
  const span = low === high ? metric.text(low) : `${metric.text(low)} to ${metric.text(high)}`;
  return `${DATA.systems[col("system", rows[0])].text} goes off the scale: ${span}`;
}

function bySystem(panel) {
  const metric = metricOf(panel.rows);
  const series = new Map();
  panel.rows.forEach((row, k) => {
    if (!shown(row) || col(metric.value, row) === null) return;
    const system = col("system", row);
    if (!series.has(system)) series.set(system, []);
    series.get(system).push([row, panel.x[k]]);
  });
  return [...series].map(([system, points]) => [DATA.systems[system].slot, points.sort((a, b) => a[1] - b[1])]);
}

function whisker(slot, at, low, high, scale, across) {
  if (low === null || high === null || low === high) return "";
  const [a, b] = [scale(low).toFixed(1), scale(high).toFixed(1)];
  const path = across ? `M${a} ${at - 3}v6m0-3H${b}m0-3v6` : `M${at - 3} ${a}h6m-3 0V${b}m-3 0h6`;
  return `<path class="whisker c${slot}" d="${path}"/>`;
}

function yGrid(scale, box, y, text) {
  return scale.ticks
    .map((tick) => `<line class="grid" x1="${box.left}" x2="${box.right}" y1="${y(tick)}" y2="${y(tick)}"/><text x="${box.left - 7}" y="${y(tick) + 3.5}" text-anchor="end">${plainTick(text(tick))}</text>`)
    .join("");
}

function xTicks(words, x, box) {
  const room = (box.right - box.left) / (Math.max(...words.map((word) => word.length)) * 6.4 + 8);
  const every = Math.ceil(words.length / room);
  const ticks = words.map((word, i) => (i % every ? "" : `<text x="${x(i)}" y="${box.bottom + 17}" text-anchor="middle">${escaped(word)}</text>`));
  return `<line class="axis" x1="${box.left}" x2="${box.right}" y1="${box.bottom}" y2="${box.bottom}"/>${ticks.join("")}`;
}

function rule(from, to, y, words) {
  return `<line class="limit" x1="${from}" x2="${to}" y1="${y}" y2="${y}"/><text class="limit-text" x="${to}" y="${y - 4}" text-anchor="end">${words}</text>`;
}

function limitLine(network, metric, scale, box, across) {
  const limit = limitOf(network, metric);
  if (!limit) return "";
  const at = scale(limit);
  if (!across) return at < box.top || at > box.bottom ? "" : rule(box.left, box.right, at, "link's payload limit");
  if (at < box.left || at > box.right + 40) return "";
  const left = at > box.right - 60;
  return `<line class="limit" x1="${at}" x2="${at}" y1="${box.top}" y2="${box.bottom}"/><text class="limit-text" x="${left ? at - 4 : at + 4}" y="${box.top + 9}" text-anchor="${left ? "end" : "start"}">link's payload limit</text>`;
}
