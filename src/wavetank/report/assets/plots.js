// The figures that a study asks for: any quantity over any axis, one line per combination of its
// series, the models' curves and the published values on them.
const QUANTITIES = {
  throughput_bytes_per_s: byteRate, overall_bytes_per_s: byteRate, processors_used: (value) => `${significant(value * 100)} %`, operations_per_s: operationRate, elapsed_s: (value) => duration(value * 1e9),
  latency_ns_mean: duration, latency_ns_p50: duration, latency_ns_p99: duration, link_bytes: byteCount, link_packets: (value) => significant(value), requests: (value) => significant(value),
  amplification: (value) => `${significant(value)}×`, metadata_bytes_per_file: byteCount,
};

// Lines of one colour differ by dash as well as by shape.
const VARIANTS = ["", "6 3", "2 3", "9 3 2 3"];

function studyFigure(plot) {
  const panels = plot.panels.map((panel) => ({ ...panel, rows: [...panel.points.map((point) => point[2]), ...panel.absent] }));
  const draw = (panel, network, width) => {
    const scale = plotScale(plot, panels);
    return (plot.kind === "bars" ? barPanel : curvePanel)(plot, panel, network, scale, width);
  };
  const quantity = { name: plot.quantity_words, numeric: true, value: (row) => valueOn(panels, row), text: quantityText(plot) };
  const rest = ["system", "throughputInterval", "amplification", "count", "repeats", "digest", "status"].map((name) => COLUMNS[name]);
  const columns = [COLUMNS.network, COLUMNS.operation, ...conditionColumns(), rest[0], quantity, ...rest.slice(1)];
  const figure = figureElement(`${plot.title}`, `${plot.quantity_words}${plot.axis ? ` by ${plot.axis}` : ""}; ${plot.note}`, panels, draw, columns);
  figure.querySelector("header").insertAdjacentHTML("afterend", `<div class="key">${plot.series.map(seriesKey).join("")}</div>`);
  return figure;
}

const quantityText = (plot) => QUANTITIES[plot.quantity] || significant;

function valueOn(panels, row) {
  for (const panel of panels) for (const point of panel.points) if (point[2] === row) return point[3];
  return null;
}

function seriesKey(series) {
  return `<span><svg class="line c${series.colour}" viewBox="0 0 30 12" aria-hidden="true"><line class="series" x1="0" x2="30" y1="6" y2="6" stroke="var(--c)" stroke-width="2" stroke-dasharray="${VARIANTS[series.variant]}"/><path fill="var(--c)" d="${SHAPES[series.shape]}" transform="translate(15 6) scale(.95)"/></svg>${escaped(series.text)}</span>`;
}

function seen(plot, point) { return !view.hidden.has(col("system", point[2])); }

function plotScale(plot, panels) {
  const points = panels.flatMap((panel) => panel.points.filter((point) => seen(plot, point)));
  const own = points.flatMap((point) => [point[3], point[4], point[5]]).filter((value) => value !== null);
  const most = Math.max(...own, 0), least = Math.min(...own.filter((value) => value > 0), Infinity);
  const theirs = panels.flatMap((panel) => panel.published.map((one) => one.y));
  const models = panels.flatMap((panel) => panel.curves.flatMap((curve) => curve.points.map((point) => point[1])));
  const values = [...own, ...[...theirs, ...models].filter((value) => value < most * 30 && value > least / 30)];
  const kind = view.scaleAsked ? view.scale : plot.y_scale;
  if (!values.length) return linearScale([1]);
  return kind === "log" ? logScale(values) : linearScale(values);
}

// Where a value of the axis goes, in 0..1: the places of the ticks, and what lies between them.
function axisMap(plot) {
  const { positions, ticks } = plot;
  const even = Array.from(ticks, (_, i) => (ticks.length === 1 ? 0.5 : i / (ticks.length - 1)));
  if (!positions.length || positions.length === 1) return { at: (i) => even[i], of: () => 0.5 };
  const log = plot.x_scale === "log" && positions[0] > 0;
  const to = log ? Math.log2 : (value) => value;
  const low = to(positions[0]), high = to(positions[positions.length - 1]);
  const of = (value) => (to(value) - low) / (high - low);
  return { at: (i) => of(positions[i]), of };
}

function plotDot(series, x, y, hollow) {
  return `<path class="dot clickable c${series.colour}${hollow ? " hollow" : ""}" d="${SHAPES[series.shape]}" transform="translate(${x.toFixed(1)} ${y.toFixed(1)})"/>`;
}

function curvePanel(plot, panel, network, scale, width) {
  const box = { left: 66, right: width - 14, top: 14, bottom: 218 }, map = axisMap(plot);
  const xAt = (place) => box.left + 12 + place * (box.right - box.left - 24);
  const y = (value) => box.bottom - scale.place(value) * (box.bottom - box.top);
  const points = [], text = quantityText(plot);
  const rates = plot.quantity === "throughput_bytes_per_s" ? METRICS.throughput : plot.quantity === "operations_per_s" ? METRICS.operations : null;
  let marks = panel.curves.map((curve) => curveLine(plot, curve, (value) => xAt(map.of(value)), y, box)).join("");
  plot.series.forEach((series, s) => {
    const mine = panel.points.filter((point) => point[0] === s && seen(plot, point) && onScale(scale, point[3]));
    if (!mine.length) return;
    const line = mine.map((point) => `${xAt(map.at(point[1])).toFixed(1)},${y(point[3]).toFixed(1)}`);
    marks += `<polyline class="series c${series.colour}" points="${line.join(" ")}" stroke-dasharray="${VARIANTS[series.variant]}"/>`;
    for (const [, place, row, value, low, high] of mine) {
      const x = xAt(map.at(place));
      marks += whisker(series.colour, x, low, high, y, false);
      if (rates) marks += repeatMarks(row, rates, series.colour, x, y, false);
      marks += plotDot(series, x, y(value), col("steady", row) === false);
      points.push({ row, x, y: y(value), own: [plot.quantity_words, text(value)] });
    }
  });
  for (const one of panel.published) marks += publishedMark(plot, one, map, xAt, y, box, scale, points, text);
  const limit = rates === METRICS.throughput && network >= 0 ? limitLine(network, METRICS.throughput, y, box, false) : "";
  const name = plot.axis && plot.positions.length ? `<text class="axis-name" x="${box.right}" y="${box.bottom + 31}" text-anchor="end">${escaped(plot.axis)}</text>` : "";
  const svg = yGrid(scale, box, y, text) + xTicks(plot.ticks, (i) => xAt(map.at(i)), box) + limit + marks + name;
  return { svg, points, notes: modelNotes(plot, panel), width, height: box.bottom + 36 };
}

function modelNotes(plot, panel) {
  const words = panel.curves.map((curve) => `${curve.series >= 0 ? `${plot.series[curve.series].text} ` : ""}${curve.text}`);
  return words.length ? [`Constant of the model: ${words.join("; ")}`] : [];
}

function curveLine(plot, curve, x, y, box) {
  const inside = curve.points.map(([at, value]) => [x(at), y(value)]).filter(([, at]) => at >= box.top && at <= box.bottom + 0.5);
  const line = inside.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
  const colour = curve.series < 0 ? "curve published" : `curve c${plot.series[curve.series].colour}`;
  return `<polyline class="${colour}" points="${line}"/>`;
}

// A cross where the paper has a number for one place of the axis; a dashed line where for all.
function publishedMark(plot, one, map, xAt, y, box, scale, points, text) {
  if (!onScale(scale, one.y)) return "";
  const at = y(one.y), arrow = { below: "M0 3v8m-3-3l3 3l3-3", above: "M0-3v-8m-3 3l3-3l3 3" }[one.relation] || "";
  const place = one.x === null ? box.right - 16 : xAt(map.at(one.x));
  const line = one.x === null ? `<line class="theirs-line" x1="${box.left}" x2="${box.right}" y1="${at}" y2="${at}"/>` : "";
  const series = one.series < 0 ? "" : `${plot.series[one.series].text}, `;
  points.push({ x: place, y: at, tip: ["Published", `${series}${one.text}`, text(one.y)] });
  return `${line}<path class="theirs" d="M-4-4L4 4M-4 4L4-4${arrow}" transform="translate(${place.toFixed(1)} ${at.toFixed(1)})"/>`;
}

// Bars along x, one lane per series under the words of each place of the axis.
function barPanel(plot, panel, network, scale, width) {
  const box = { left: 8, right: width - 92, top: 6, bottom: 0 }, text = quantityText(plot);
  const x = (value) => box.left + Math.max(0, Math.min(1, scale.place(value))) * (box.right - box.left);
  const points = [];
  let marks = "", top = box.top;
  plot.ticks.forEach((words, i) => {
    const mine = panel.points.filter((point) => point[1] === i && seen(plot, point));
    if (!mine.length) return;
    marks += `<text class="category" x="${box.left}" y="${top + 13}">${escaped(words)}</text>`;
    top += 20;
    for (const [s, , row, value, low, high] of mine) {
      const series = plot.series[s], end = x(value), middle = top + LANE / 2;
      marks += `<rect class="bar-mark c${series.colour}" x="${box.left}" y="${top + 3}" width="${Math.max(end - box.left, 1).toFixed(1)}" height="${LANE - 6}" rx="2"/>`;
      marks += whisker(series.colour, middle, low, high, x, true) + plotDot(series, end, middle, col("steady", row) === false);
      marks += `<text class="value" x="${(high === null ? end : Math.max(end, x(high))) + 10}" y="${middle + 3.5}">${text(value)}</text>`;
      for (const one of panel.published.filter((mark) => mark.x === i && mark.series === s && onScale(scale, mark.y))) {
        marks += `<path class="theirs" d="M-4-4L4 4M-4 4L4-4" transform="translate(${x(one.y).toFixed(1)} ${middle})"/>`;
        points.push({ x: x(one.y), y: middle, tip: ["Published", one.text, text(one.y)] });
      }
      points.push({ row, x: end, y: middle, own: [plot.quantity_words, text(value)] });
      top += LANE + 1;
    }
    top += 8;
  });
  return { svg: marks, points, notes: [], width, height: top + 6 };
}
