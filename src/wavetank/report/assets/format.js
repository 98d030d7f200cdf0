"use strict";
// Numbers as words, by the same rules as analysis/wording.py: three significant digits, rates by
// powers of ten. Exact values stay in the tables' titles and in the CSV.
const THIN = "\u202f";

function grouped(text) {
  const [whole, rest] = text.split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
  return rest === undefined ? spaced : `${spaced}.${rest}`;
}

function significant(value) {
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(3)))));
  const rounded = Number(value.toPrecision(3));
  return grouped(rounded.toFixed(Math.max(0, 2 - magnitude)));
}

function scaled(value, units) {
  for (const [unit, factor] of units) {
    if (value >= factor * 0.9995) return `${significant(value / factor)} ${unit}`;
  }
  const [unit, factor] = units[units.length - 1];
  return `${significant(value / factor)} ${unit}`;
}

const BYTE_RATES = [["TB/s", 1e12], ["GB/s", 1e9], ["MB/s", 1e6], ["kB/s", 1e3], ["B/s", 1]];
const BYTES = [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]];
const DURATIONS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
const COUNTS = [["M/s", 1e6], ["k/s", 1e3], ["/s", 1]];

const byteRate = (value) => scaled(value, BYTE_RATES);
const byteCount = (value) => scaled(value, BYTES);
const duration = (ns) => scaled(ns, DURATIONS);
const operationRate = (value) => `${significant(value)}/s`;
const operationTick = (value) => scaled(value, COUNTS).replace(" /s", "/s");
const percent = (share) => `${Number((share * 100).toPrecision(2))} %`;
const whole = (value) => grouped(String(value));

function seconds(value) {
  return value >= 60 ? `${grouped(String(Math.round(value)))} s` : `${significant(value)} s`;
}

// A tick says no more digits than it needs: `10 MB/s`, not `10.0 MB/s`.
const plainTick = (text) => text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

function escaped(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}
