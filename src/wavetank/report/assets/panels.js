// State, and how figures are drawn from it and answer to the pointer and the keyboard. Everything on
// the page follows from `view` and DATA.
const DATA = JSON.parse(document.getElementById("data").textContent);
const view = { metric: "throughput", scale: "log", hidden: new Set() };
const figures = [];

function drawFigure(holder) {
  const { panels, draw } = holder.chart;
  const columns = columnsFor(panels.length, holder.clientWidth);
  const width = Math.min(Math.floor((holder.clientWidth - 22 * (columns - 1)) / columns), panels.length === 1 ? 720 : 2000);
  holder.style.gridTemplateColumns = `repeat(${columns}, minmax(0, ${panels.length === 1 ? "720px" : "1fr"}))`;
  holder.innerHTML = "";
  for (const panel of panels) {
    const network = typeof panel.network === "number" ? panel.network : DATA.networks.findIndex((one) => one.label === panel.network);
    const chart = draw(panel, network, Math.max(width, 240));
    holder.append(panelElement(panel, network, chart, holder.chart.title));
  }
  holder.dataset.drawn = "yes";
}

// Three abreast where there is room, unless four or two rows of two look better.
function columnsFor(count, width) {
  if (width < 560 || count === 1) return 1;
  return width > 1000 && count !== 4 && count > 2 ? 3 : 2;
}

function panelElement(panel, network, chart, title) {
  const element = document.createElement("div");
  element.className = "panel";
  const absent = panel.rows.filter((row) => col("status", row) !== "ok");
  const notes = [...chart.notes, ...(absent.length ? [`No number: ${absentText(absent)}`] : [])];
  const note = notes.length ? `<p class="absent">${escaped(notes.join(". "))}.</p>` : "";
  const facts = DATA.networks[network] || { label: "", text: "" }, heading = panel.title || facts.label;
  const label = `${title}, ${heading}. ${chart.points.length} points; arrow keys walk through them, Enter shows the trials behind one, the table below holds the values.`;
  element.innerHTML = `<h4>${escaped(heading)}<small>${escaped(facts.text)}</small></h4><svg class="plot" viewBox="0 0 ${chart.width} ${chart.height}" width="${chart.width}" height="${chart.height}" role="img" tabindex="0" aria-label="${escaped(label)}">${chart.svg}<circle class="lit" r="9" cx="-20" cy="-20"/></svg>${note}`;
  watch(element.querySelector("svg"), chart.points, chart.width);
  return element;
}

function absentText(rows) {
  const words = rows.slice(0, 3).map((row) => `${DATA.systems[col("system", row)].text} ${conditionWords(row).join(", ")} (${col("status", row)})`);
  return words.join("; ") + (rows.length > 3 ? `; ${rows.length - 3} more` : "");
}

// Pointer and keyboard both end in `light`: one point ringed, its values in the tip.
function watch(svg, points, width) {
  let current = -1;
  const light = (i, x, y) => {
    current = i;
    const ring = svg.querySelector(".lit");
    ring.setAttribute("cx", i < 0 ? -20 : points[i].x);
    ring.setAttribute("cy", i < 0 ? -20 : points[i].y);
    if (i < 0) hideTip(); else showTip(points[i], x, y);
  };
  const onPage = (i) => {
    const box = svg.getBoundingClientRect(), zoom = box.width / width;
    light(i, box.left + points[i].x * zoom, box.top + points[i].y * zoom);
  };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), zoom = width / box.width;
    const i = nearest(points, (event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom);
    if (i < 0) light(-1); else if (i !== current) onPage(i);
  });
  svg.addEventListener("pointerleave", () => light(-1));
  const behind = () => { if (current >= 0 && points[current].row !== undefined) openBehind([points[current].row]); };
  svg.addEventListener("click", behind);
  svg.addEventListener("blur", () => light(-1));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") light(-1);
    if (event.key === "Enter") { event.preventDefault(); behind(); }
    if (!step || !points.length) return;
    event.preventDefault();
    onPage((current + step + points.length) % points.length);
  });
}

function nearest(points, x, y) {
  let best = -1, least = 42 ** 2;
  points.forEach((point, i) => {
    const distance = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}

function tipLines(point) {
  const { row } = point, lines = [];
  const add = (name, value, text) => { if (value !== null && value !== undefined) lines.push([name, text(value)]); };
  const throughput = intervalText(METRICS.throughput, row);
  if (point.own && point.own[0] !== "Throughput") lines.push(point.own);
  if (point.percentile !== undefined) add(PERCENTILES[point.percentile][0], col(PERCENTILES[point.percentile][1], row), duration);
  add("Throughput", col("throughput_bytes_per_s", row), byteRate);
  add("exactly", col("throughput_bytes_per_s", row), (value) => `${whole(Math.round(value))} B/s`);
  if (throughput) lines.push(["95 % interval", throughput]);
  add("Operations", col("operations_per_s", row), operationRate);
  if (point.percentile === undefined) PERCENTILES.slice(0, 3).forEach(([name, column]) => add(name, col(column, row), duration));
  if (DATA.networks[col("network", row)].rtt_ns) add("p50 in round trips", col("round_trips_p50", row), significant);
  add("Of the link's limit", col("link_utilisation", row), percent);
  add("Link bytes per payload byte", col("amplification", row), significant);
  lines.push(["Repeats", `${col("repeats_ok", row)} of ${col("repeats", row)}, ${whole(col("operations", row))} operations`]);
  const odd = DATA.trials[row].filter((trial) => trial[6]).length;
  if (odd) lines.push(["Far off the others", `${odd} of the repeats`]);
  if (col("failed_operations", row)) lines.push(["Failed", whole(col("failed_operations", row))]);
  if (col("steady", row) === false) lines.push(["No steady state", col("steady_reason", row) || ""]);
  lines.push(["Cell", col("digest", row)]);
  return lines;
}

function showTip(point, x, y) {
  const tip = document.getElementById("tip"), { row } = point;
  if (point.tip) {
    const [name, words, value] = point.tip;
    placeTip(tip, `<b>${escaped(name)}</b>${escaped(words)}<dl><dt>as ours</dt><dd>${escaped(value)}</dd></dl>`, x, y);
    return;
  }
  const where = [DATA.networks[col("network", row)].label, ...conditionWords(row)].join(", ");
  placeTip(tip, `<b>${swatch(slotOf(row))}${escaped(DATA.systems[col("system", row)].text)}</b>${escaped(where)}<dl>${tipLines(point).map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join("")}</dl><small>Click for its trials</small>`, x, y);
}

function placeTip(tip, html, x, y) {
  tip.innerHTML = html;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 18 + box.width < innerWidth ? x + 18 : Math.max(6, x - box.width - 18);
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.max(6, Math.min(y - 20, innerHeight - box.height - 6))}px`;
}

const conditionWords = (row) => DATA.conditions[row].map((value, i) => `${DATA.condition_names[i]} ${value}`);

function hideTip() { document.getElementById("tip").hidden = true; }
