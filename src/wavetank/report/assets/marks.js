// The shape of each slot, so that colour never carries a system alone. Unit: radius 5.
const SHAPES = {
  "-1": "M-5-2H5V2H-5Z",
  0: "M0-4.6A4.6 4.6 0 1 1 0 4.6A4.6 4.6 0 1 1 0-4.6Z",
  1: "M-4.2-4.2H4.2V4.2H-4.2Z",
  2: "M0-5.4L5 4H-5Z",
  3: "M0-5.6L5.2 0L0 5.6L-5.2 0Z",
  4: "M0 5.4L5-4H-5Z",
  5: "M-1.7-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z",
  6: "M0-5.6L1.6-1.9L5.4-1.7L2.5 .8L3.4 4.6L0 2.5L-3.4 4.6L-2.5 .8L-5.4-1.7L-1.6-1.9Z",
};
// A second round of the colours has the shapes of others.
for (let slot = 7; slot < 14; slot += 1) SHAPES[slot] = SHAPES[(slot + 3) % 7];
const DASHES = { "-1": "5 4", 0: "", 1: "", 2: "", 3: "7 3", 4: "2 3", 5: "9 3 2 3", 6: "4 2" };
for (let slot = 7; slot < 14; slot += 1) DASHES[slot] = "1 3";

function defineMarks() {
  document.getElementById("marks").innerHTML = Object.entries(SHAPES)
    .map(([slot, path]) => `<path id="m${slot}" d="${path}"/>`)
    .join("");
}

function swatch(slot) {
  return `<svg class="mark s${slot}" viewBox="-7 -7 14 14" aria-hidden="true"><path d="${SHAPES[slot]}"/></svg>`;
}

// `row` ties the mark to its values; a hollow one stands for a rate without a steady state.
function dot(slot, x, y, hollow) {
  const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
  return `<path class="dot clickable s${slot}${hollow ? " hollow" : ""}" d="${SHAPES[slot]}" transform="${transform}"/>`;
}
