// Tables of rows: columns as records, sorted by their header's button, saved as CSV. Long ones show
// a page at a time. Cells show rounded values and carry the exact one as their title.
const PAGE_ROWS = 100;

const rateCell = (name, text) => ({ numeric: true, value: (row) => col(name, row), text });
const intervalText = (metric, row) => {
  const [low, high] = [col(metric.low, row), col(metric.high, row)];
  return low === null ? "" : `${metric.text(low)} to ${metric.text(high)}`;
};
const COLUMNS = {
  system: { name: "System", value: (row) => DATA.systems[col("system", row)].text, mark: true },
  network: { name: "Network", value: (row) => DATA.networks[col("network", row)].label },
  workload: { name: "Workload", value: (row) => col("workload", row), context: true },
  operation: { name: "Operation", value: (row) => col("operation", row) },
  clock: { name: "Clock", value: (row) => col("clock", row), context: true },
  throughput: { name: "Throughput", ...rateCell("throughput_bytes_per_s", byteRate), note: (row) => (col("steady", row) === false ? " †" : "") },
  throughputInterval: { name: "95 % interval", value: (row) => intervalText(METRICS.throughput, row) },
  operations: { name: "Operations/s", ...rateCell("operations_per_s", significant) },
  count: { name: "Operations", ...rateCell("operations", whole) },
  failed: { name: "Failed", ...rateCell("failed_operations", whole) },
  p50: { name: "p50", ...rateCell("latency_ns_p50", duration) },
  p90: { name: "p90", ...rateCell("latency_ns_p90", duration) },
  p99: { name: "p99", ...rateCell("latency_ns_p99", duration) },
  p999: { name: "p99.9", ...rateCell("latency_ns_p999", duration) },
  max: { name: "max", ...rateCell("latency_ns_max", duration) },
  trips: { name: "p50 in RTTs", ...rateCell("round_trips_p50", significant) },
  link: { name: "On the link", ...rateCell("link_bytes", byteCount) },
  packets: { name: "Packets", ...rateCell("link_packets", whole) },
  dropped: { name: "Dropped", ...rateCell("dropped_packets", whole) },
  resent: { name: "Sent again", ...rateCell("retransmitted_packets", whole) },
  amplification: { name: "Link/payload", ...rateCell("amplification", significant) },
  utilisation: { name: "Of link", ...rateCell("link_utilisation", percent) },
  simulated: { name: "Simulated", ...rateCell("simulated_s", seconds) },
  wall: { name: "Wall", ...rateCell("wall_s", seconds) },
  speedUp: { name: "Speed-up", numeric: true, value: (row) => (col("wall_s", row) ? col("simulated_s", row) / col("wall_s", row) : null), text: (value) => `${significant(value)}×` },
  repeats: { name: "Repeats", numeric: true, value: (row) => col("repeats_ok", row), text: (value, row) => (value === col("repeats", row) ? String(value) : `${value} of ${col("repeats", row)}`) },
  digest: { name: "Cell", value: (row) => col("digest", row), behind: true },
  status: { name: "Status", value: (row) => col("status", row) + (col("reason", row) ? `: ${col("reason", row)}` : ""), why: true },
};
const conditionColumns = () => DATA.condition_names.map((name, i) => ({ name: name[0].toUpperCase() + name.slice(1), value: (row) => DATA.conditions[row][i] }));

// A column that says nothing, or the same everywhere where it is mere context, is left out.
function telling(columns, rows) {
  return columns.filter((column) => {
    const values = new Set(rows.map((row) => column.value(row)));
    if (column.context) return values.size > 1;
    return [...values].some((value) => value !== null && value !== "");
  });
}

function buildTable(holder, title, asked, rows) {
  const columns = telling(asked, rows);
  const state = { rows: [...rows], sort: null, down: false, page: 0 };
  holder.innerHTML = `<div class="tools"><button type="button" class="csv">Save as CSV</button></div><div class="table-box" tabindex="0" role="region" aria-label="${escaped(title)}, scrolls"><table class="data"><caption class="hidden">${escaped(title)}</caption><thead></thead><tbody></tbody></table></div><div class="tools pages"></div>`;
  holder.querySelector(".csv").addEventListener("click", () => saveCsv(title, columns, state.rows));
  const draw = () => drawTable(holder, columns, state, draw);
  draw();
  return (kept) => { state.rows = kept; state.page = 0; draw(); };
}

function drawTable(holder, columns, state, redraw) {
  const head = columns.map((column, i) => {
    const sorted = state.sort === i ? (state.down ? "descending" : "ascending") : "none";
    return `<th scope="col" aria-sort="${sorted}"${column.numeric ? ' class="n"' : ""}><button type="button" data-sort="${i}">${escaped(column.name)}</button></th>`;
  });
  holder.querySelector("thead").innerHTML = `<tr>${head.join("")}</tr>`;
  holder.querySelectorAll("[data-sort]").forEach((button) => button.addEventListener("click", () => {
    const i = Number(button.dataset.sort);
    state.down = state.sort === i ? !state.down : Boolean(columns[i].numeric);
    state.sort = i;
    sortRows(state, columns[i]);
    redraw();
    holder.querySelector(`[data-sort="${i}"]`).focus();
  }));
  const from = state.page * PAGE_ROWS;
  holder.querySelector("tbody").innerHTML = state.rows.slice(from, from + PAGE_ROWS).map((row) => tableRow(columns, row)).join("");
  drawPages(holder.querySelector(".pages"), state, redraw);
}

function sortRows(state, column) {
  const sign = state.down ? -1 : 1;
  state.rows.sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (x === y) return a - b;
    if (x === null) return 1;
    if (y === null) return -1;
    return sign * (column.numeric ? x - y : String(x).localeCompare(String(y), undefined, { numeric: true }));
  });
}

function tableRow(columns, row) {
  const cells = columns.map((column) => {
    const value = column.value(row);
    if (value === null) return `<td${column.numeric ? ' class="n"' : ""}>–</td>`;
    const words = column.text ? column.text(value, row) : value;
    const mark = column.mark ? swatch(slotOf(row)) : "";
    const exact = column.numeric ? ` class="n" title="${escaped(value)}" data-exact="${escaped(value)}"` : column.why ? ' class="why"' : "";
    if (column.behind) return `<td><button type="button" class="behind" data-rows="${row}" title="Its trials">${escaped(words)}</button></td>`;
    return `<td${exact}>${mark}${escaped(words)}${column.note ? column.note(row) : ""}</td>`;
  });
  return `<tr data-row="${row}"${col("status", row) === "ok" ? "" : ' class="bad"'}>${cells.join("")}</tr>`;
}

function drawPages(holder, state, redraw) {
  const pages = Math.ceil(state.rows.length / PAGE_ROWS);
  if (pages < 2) { holder.innerHTML = state.rows.length ? "" : "<span>No cell matches.</span>"; return; }
  holder.innerHTML = `<button type="button" data-step="-1"${state.page ? "" : " disabled"}>Previous</button><span>Page ${state.page + 1} of ${pages} (${whole(state.rows.length)} cells)</span><button type="button" data-step="1"${state.page + 1 < pages ? "" : " disabled"}>Next</button>`;
  holder.querySelectorAll("[data-step]").forEach((button) => button.addEventListener("click", () => {
    state.page += Number(button.dataset.step);
    redraw();
  }));
}

function saveCsv(title, columns, rows) {
  const quoted = (value) => (/[",\n]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value);
  const lines = [columns.map((column) => column.name), ...rows.map((row) => columns.map((column) => column.value(row) ?? ""))];
  const text = lines.map((line) => line.map((value) => quoted(String(value))).join(",")).join("\n");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text + "\n"], { type: "text/csv" }));
  link.download = `${title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "")}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
