// The trials behind a point: status, network as measured before each, the guest's log, and why one
// has no number. Opened by a click on a point, Enter on it, or any element with data-rows.
const MOST_CELLS_SHOWN = 40;

function openBehind(rows) {
  const dialog = document.getElementById("behind"), shown = rows.slice(0, MOST_CELLS_SHOWN);
  document.getElementById("behind-title").textContent = rows.length === 1 ? "Trials behind the point" : `Trials behind ${whole(rows.length)} cells`;
  const more = rows.length > shown.length ? `<p>${whole(rows.length - shown.length)} more cells are in the table of all cells.</p>` : "";
  dialog.querySelector(".body").innerHTML = shown.map(cellTrials).join("") + more;
  hideTip();
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function cellTrials(row) {
  const where = [DATA.networks[col("network", row)].label, col("operation", row), ...conditionWords(row)].filter(Boolean).join(", ");
  const reason = col("status", row) === "ok" && col("reason", row) ? `<p>${escaped(col("reason", row))}</p>` : "";
  const lines = DATA.trials[row].map(trialLine).join("");
  return `<h3>${swatch(slotOf(row))}${escaped(DATA.systems[col("system", row)].text)}, ${escaped(where)}</h3><p>Cell <code>${escaped(col("digest", row))}</code></p>${reason}<div class="scroll"><table><thead><tr><th scope="col">Repeat</th><th scope="col">Seed</th><th scope="col">Status</th><th scope="col" class="n">Rate</th><th scope="col" class="n">RTT measured</th><th scope="col" class="n">Link rate</th><th scope="col" class="n">Lost, one way</th><th scope="col">Log</th><th scope="col">Remarks</th></tr></thead><tbody>${lines}</tbody></table></div>`;
}

function trialLine([seed, repeat, status, throughput, operations, guest, outlier, told, rtt, lost, rate]) {
  const number = (value, text) => `<td class="n">${value === null ? "–" : text(value)}</td>`;
  const speed = throughput === null ? number(operations, operationRate) : number(throughput, byteRate);
  const log = guest ? `<a href="guests/${encodeURIComponent(guest)}.log">${escaped(guest)}</a>` : "–";
  const words = [outlier ? "far off the other repeats; counts all the same" : "", told || ""].filter(Boolean).join(". ");
  return `<tr><td>${repeat}</td><td>${seed}</td><td><span class="status ${escaped(status)}">${escaped(status)}</span></td>${speed}${number(rtt, duration)}${number(rate, (value) => scaled(value, BIT_RATES))}${number(lost, percent)}<td>${log}</td><td>${escaped(words)}</td></tr>`;
}

const BIT_RATES = [["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3], ["bit/s", 1]];

function bindBehind() {
  const dialog = document.getElementById("behind");
  document.getElementById("behind-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.addEventListener("click", (event) => {
    const asked = event.target.closest("[data-rows]");
    if (asked) openBehind(asked.dataset.rows.split(",").map(Number));
  });
}

// Every repeat as a speck beside the median, those far off the others ringed. `across`: the value
// runs along x.
function repeatMarks(row, metric, colour, at, scale, across) {
  const trials = DATA.trials[row];
  if (trials.length < 2) return "";
  return trials.map((trial) => {
    const value = metric === METRICS.throughput ? trial[3] : trial[4];
    if (value === null) return "";
    const place = scale(value).toFixed(1), [x, y] = across ? [place, at.toFixed(1)] : [at.toFixed(1), place];
    return trial[6] ? `<circle class="outlier c${colour}" cx="${x}" cy="${y}" r="4"/>` : `<circle class="repeat c${colour}" cx="${x}" cy="${y}" r="1.7"/>`;
  }).join("");
}
