// What the page is made of: sections with their figures and tables, the legend, switches, themes.
function figureElement(title, note, panels, draw, columns) {
  const figure = document.createElement("figure");
  figure.innerHTML = `<header><figcaption>${escaped(title)}<small>${escaped(note)}</small></figcaption></header><div class="panels"></div><details><summary>Table</summary><div class="lazy"></div></details>`;
  const holder = figure.querySelector(".panels");
  holder.chart = { title, panels, draw };
  figures.push(holder);
  const rows = () => holder.chart.panels.flatMap((panel) => panel.rows);
  lazily(figure.querySelector("details"), (box) => buildTable(box, title, columns, rows()));
  return figure;
}

function rateFigure(section, figure) {
  const rows = figure.panels.flatMap((panel) => panel.rows);
  const numeric = figure.positions.length > 0;
  const draw = (panel, network, width) => {
    const metric = metricOf(rows), scale = scaleOf(rows, metric);
    return (numeric ? linePanel : lanePanel)(figure, panel, network, scale, metric, width);
  };
  const columns = [COLUMNS.network, ...conditionColumns(), ...["system", "throughput", "throughputInterval", "operations", "count", "failed", "amplification", "utilisation", "repeats", "digest", "status"].map((name) => COLUMNS[name])];
  const title = figure.title ? `Throughput: ${figure.title}` : "Throughput";
  return figureElement(`${title}${figure.axis ? ` by ${figure.axis}` : ""}`, rateNote(rows), figure.panels, draw, columns);
}

function rateNote(rows) {
  const repeats = Math.max(...rows.map((row) => col("repeats", row)));
  const notes = [repeats > 1 ? `median of ${repeats} repeats, bars are 95 % intervals` : "one run per cell"];
  if (rows.some((row) => col("steady", row) === false)) notes.push("hollow: too short for a steady state");
  return notes.join("; ");
}

function latencyFigure(section) {
  const choices = section.latencies;
  const draw = (panel, network, width) => {
    const all = figure.querySelector(".panels").chart.panels.flatMap((one) => one.rows).filter(shown);
    const contenders = all.filter((row) => !isBaseline(row));
    const values = (contenders.length ? contenders : all).flatMap((row) => PERCENTILES.map(([, name]) => col(name, row))).filter((value) => value !== null);
    return latencyPanel(panel, network, logScale(values), width);
  };
  const columns = [COLUMNS.network, ...conditionColumns(), ...["system", "p50", "p90", "p99", "p999", "max", "trips", "count", "status"].map((name) => COLUMNS[name])];
  const figure = figureElement("Latency by percentile", "hollow: fewer operations than the percentile needs", choices[0].panels, draw, columns);
  if (choices.length > 1) figure.querySelector("header").append(choiceElement(figure, choices));
  return figure;
}

function choiceElement(figure, choices) {
  const select = document.createElement("select");
  select.setAttribute("aria-label", "Conditions shown");
  select.innerHTML = choices.map((one, i) => `<option value="${i}">${escaped(one.title)}</option>`).join("");
  select.addEventListener("change", () => {
    const holder = figure.querySelector(".panels");
    holder.chart.panels = choices[Number(select.value)].panels;
    drawFigure(holder);
    const details = figure.querySelector("details");
    details.built = false;
    if (details.open) details.build();
  });
  return select;
}

// Builds the inside of a details element when it is first opened.
function lazily(details, build) {
  details.build = () => {
    if (details.built) return;
    details.built = true;
    build(details.querySelector(".lazy"));
  };
  details.addEventListener("toggle", () => { if (details.open) details.build(); });
}

function buildLegend() {
  const legend = document.getElementById("legend");
  legend.innerHTML = DATA.systems.map((system, i) => `<button type="button" data-system="${i}" aria-pressed="true">${swatch(system.slot)}${escaped(system.text)}</button>`).join("");
  legend.addEventListener("click", (event) => {
    const button = event.target.closest("[data-system]");
    if (!button) return;
    const system = Number(button.dataset.system), gone = view.hidden.has(system);
    if (gone) view.hidden.delete(system); else view.hidden.add(system);
    button.setAttribute("aria-pressed", String(gone));
    redraw();
  });
}

function bindSwitches(name) {
  const buttons = document.querySelectorAll(`[data-${name}]`);
  buttons.forEach((button) => button.addEventListener("click", () => {
    view[name] = button.dataset[name];
    view[`${name}Asked`] = true;
    buttons.forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
    redraw();
  }));
}

function redraw() { figures.filter((holder) => holder.dataset.drawn).forEach(drawFigure); }

function bindThemes() {
  const buttons = document.querySelectorAll("[data-theme-choice]");
  const choose = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    buttons.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.themeChoice === theme)));
    try { localStorage.setItem("wavetank-theme", theme); } catch { /* a file may have no storage */ }
  };
  buttons.forEach((button) => button.addEventListener("click", () => choose(button.dataset.themeChoice)));
  let kept = null;
  try { kept = localStorage.getItem("wavetank-theme"); } catch { /* as above */ }
  if (kept) choose(kept);
}

function buildAllCells() {
  const holder = document.querySelector("#cells .lazy");
  const names = ["status", "throughput", "throughputInterval", "operations", "p50", "p99", "max", "count", "failed", "link", "packets", "dropped", "resent", "amplification", "trips", "utilisation", "repeats", "simulated", "wall", "digest"];
  const columns = [COLUMNS.system, COLUMNS.network, COLUMNS.workload, COLUMNS.operation, ...conditionColumns(), COLUMNS.clock, ...names.map((name) => COLUMNS[name])];
  const all = DATA.columns.system.map((_, row) => row);
  holder.className = "cells";
  holder.innerHTML = '<div class="tools"><label>Find <input type="search" id="find" placeholder="iscsi realistic 4 KiB void"></label></div><div></div>';
  const update = buildTable(holder.lastElementChild, "All cells", columns, all);
  const words = all.map((row) => columns.filter((column) => !column.numeric).map((column) => column.value(row)).join(" ").toLowerCase() + ` ${DATA.systems[col("system", row)].label}`);
  holder.querySelector("input").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    update(all.filter((row) => wanted.every((word) => words[row].includes(word))));
  });
}

function buildTimes() {
  const columns = [COLUMNS.system, COLUMNS.network, COLUMNS.operation, ...conditionColumns(), COLUMNS.simulated, COLUMNS.wall, COLUMNS.speedUp, COLUMNS.repeats];
  const ran = DATA.columns.system.map((_, row) => row).filter((row) => col("status", row) === "ok");
  lazily(document.getElementById("times"), (box) => buildTable(box, "Simulated and wall time", columns, ran));
}

function buildSections(observer) {
  const plots = document.getElementById("plots");
  for (const plot of DATA.plots) plots.append(studyFigure(plot));
  for (const element of document.querySelectorAll("[data-section]")) {
    const section = DATA.sections[Number(element.dataset.section)];
    const holder = element.querySelector(".figures");
    for (const figure of section.figures) holder.append(rateFigure(section, figure));
    holder.append(latencyFigure(section));
    const single = section.figures.length === 1 && section.figures[0].panels.length === 1;
    if (single) holder.classList.add("pair");
  }
  for (const holder of figures) { holder.style.minHeight = "240px"; observer.observe(holder); }
}

function start() {
  defineMarks();
  buildLegend();
  bindSwitches("metric");
  bindSwitches("scale");
  bindThemes();
  bindBehind();
  const observer = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
    observer.unobserve(entry.target);
    entry.target.style.minHeight = "";
    drawFigure(entry.target);
  }), { rootMargin: "600px" });
  buildSections(observer);
  buildAllCells();
  buildTimes();
  let timer = 0, width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(redraw, 120);
  });
  addEventListener("scroll", hideTip, { passive: true });
  addEventListener("beforeprint", () => figures.filter((holder) => !holder.dataset.drawn).forEach(drawFigure));
  document.getElementById("copy-command").addEventListener("click", copyCommand);
  document.documentElement.dataset.ready = "yes";
}

async function copyCommand() {
  const command = document.getElementById("command"), button = document.getElementById("copy-command");
  try {
    await navigator.clipboard.writeText(command.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(command);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

start();
