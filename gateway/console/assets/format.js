// Figures and times as people read them.

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function count(n) {
  return Math.abs(n) < 10_000 ? plain.format(n) : short.format(n);
}

export function exact(n) {
  return plain.format(n);
}

export function rate(n) {
  if (n === 0) return "0";
  if (n < 0.01) return "< 0.01";
  return n < 10 ? String(Number(n.toPrecision(2))) : count(n);
}

export function share(part, whole) {
  if (!whole) return "–";
  const p = (100 * part) / whole;
  if (p === 0 || p === 100) return `${p} %`;
  return p > 99.9 ? "> 99.9 %" : `${p < 1 ? p.toFixed(2) : p.toFixed(1)} %`;
}

export function duration(ms) {
  if (ms === undefined || ms === null) return "–";
  if (ms === 0) return "0 ms";
  if (ms < 10) return `${Number(ms.toPrecision(2))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${ms % 1000 === 0 ? ms / 1000 : (ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  if (ms < 3_600_000) return parts(ms, 60_000, "min", 1000, "s");
  if (ms < 86_400_000) return parts(ms, 3_600_000, "h", 60_000, "min");
  return parts(ms, 86_400_000, "d", 3_600_000, "h");
}

function parts(ms, large, one, small, other) {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${one}${rest ? ` ${rest} ${other}` : ""}`;
}

export function bytes(n) {
  if (!n) return "0 B";
  const units = ["B", "KB", "MB", "GB"];
  const i = Math.min(Math.floor(Math.log2(n) / 10), units.length - 1);
  const v = n / 2 ** (10 * i);
  return `${v < 10 && i > 0 ? Number(v.toFixed(1)) : Math.round(v)} ${units[i]}`;
}

const two = (n) => String(n).padStart(2, "0");

export function clock(t, seconds = true) {
  const d = new Date(t);
  return `${two(d.getHours())}:${two(d.getMinutes())}${seconds ? `:${two(d.getSeconds())}` : ""}`;
}

export function day(t) {
  const d = new Date(t);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

// moment formats a time: the clock alone for today, the month and day before it for this year, else the whole date.
export function moment(t) {
  const that = day(t), today = day(Date.now());
  if (that === today) return clock(t);
  return that.slice(0, 4) === today.slice(0, 4) ? `${that.slice(5)} ${clock(t, false)}` : `${that} ${clock(t, false)}`;
}

// span names a step of a series.
export function span(start, stepMs) {
  const end = new Date(start).getTime() + stepMs;
  if (stepMs >= 86_400_000) return day(start);
  return `${moment(start).replace(/:00$/, stepMs >= 60_000 ? "" : ":00")}–${clock(end, stepMs < 60_000)}`;
}
