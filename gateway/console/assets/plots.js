// The drawings of charts: bars stacked over time, lines over time, bars side by side, and rows.
import { svg } from "/assets/dom.js";
import { clock, count, day, span } from "/assets/format.js";

const HEIGHT = 190;
const LOW = 130; // of columns
const TOP = 8;
const BOTTOM = 22;

// ticks returns a few round numbers, the last of which is at least most.
function ticks(most) {
  const rough = most / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough);
  step = Math.max(1, Math.ceil(step));
  const all = [];
  for (let v = 0; v < most + step * 0.999; v += step) all.push(v);
  return all;
}

function frame(node, width, height, marks, format, logarithmic = false) {
  const left = 10 + 6.6 * Math.max(...marks.map((m) => format(m).length));
  const scale = logarithmic ? (v) => Math.log10(Math.max(v, marks[0])) : (v) => v;
  const low = logarithmic ? scale(marks[0]) : 0, high = scale(marks.at(-1));
  const y = (v) => height - BOTTOM - ((height - BOTTOM - TOP) * (scale(v) - low)) / (high - low);
  for (const m of marks) {
    node.append(svg("line", { class: m === marks[0] ? "axis" : "rule", x1: left, x2: width, y1: y(m), y2: y(m) }),
      svg("text", { class: "tick", x: left - 6, y: y(m) + 3.5, "text-anchor": "end" }, format(m)));
  }
  return { left, y };
}

const minute = 60_000, hour = 3_600_000, whole = 86_400_000;

// times writes a few round times under a drawing.
function times(node, points, stepMs, left, step, width) {
  const apart = [minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, whole, 2 * whole, 7 * whole]
    .find((a) => a >= stepMs && (a / stepMs) * step >= 52) ?? 14 * whole;
  points.forEach((p, i) => {
    const at = new Date(p.start);
    const x = left + i * step;
    if ((at.getTime() - at.getTimezoneOffset() * minute) % apart !== 0 || x > width - 16) return;
    const text = apart >= whole ? day(at).slice(5) : clock(at, false);
    node.append(svg("line", { class: "axis", x1: x, x2: x, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4 }),
      svg("text", { class: "tick", x, y: HEIGHT - 5, "text-anchor": "middle" }, text));
  });
}

const sum = (values) => values.reduce((a, b) => a + b, 0);

// stacked draws bars over time. series are [{name, kind, of(point)}]; the first is at the bottom.
export function stacked(points, stepMs, series, summary) {
  const all = series.map((s) => ({ ...s, values: points.map(s.of) })).map((s) => ({ ...s, total: sum(s.values) }));
  const heights = points.map((_, i) => sum(all.map((s) => s.values[i])));
  return {
    empty: sum(heights) === 0, height: HEIGHT, format: count, summary, series: all, labels: points.map((p) => span(p.start, stepMs)),
    paint(node, width) {
      const { left, y } = frame(node, width, HEIGHT, ticks(Math.max(...heights)), count);
      const step = (width - left) / points.length;
      const gap = step > 6 ? 2 : step > 3 ? 1 : 0;
      points.forEach((_, i) => {
        let below = 0;
        for (const s of all) {
          const v = s.values[i];
          if (v === 0) continue;
          node.append(svg("rect", { class: "bar", "data-kind": s.kind, x: left + i * step + gap / 2, width: Math.max(step - gap, 0.5), y: y(below + v), height: Math.max(y(below) - y(below + v), 0.75) }));
          below += v;
        }
      });
      times(node, points, stepMs, left, step, width);
      return { left, step, top: TOP, bottom: HEIGHT - BOTTOM };
    },
  };
}

// decades returns the powers of ten around some numbers: the marks of a logarithmic scale.
function decades(values) {
  const low = Math.floor(Math.log10(Math.max(Math.min(...values), 0.01)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...values, 0.01))), low + 1);
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
}

// lines draws lines over time on a logarithmic scale. A step without executions (has(point) is false) is a gap.
export function lines(points, stepMs, series, has, format, summary) {
  const all = series.map((s) => ({ ...s, values: points.map((p) => (has(p) ? s.of(p) : null)) }));
  const marks = decades(all.flatMap((s) => s.values.filter((v) => v !== null)));
  return {
    empty: !points.some(has), height: HEIGHT, format: (v) => (v === null ? "–" : format(v)), summary, series: all,
    labels: points.map((p) => span(p.start, stepMs)),
    paint(node, width) {
      const { left, y } = frame(node, width, HEIGHT, marks, (ms) => (ms < 60_000 ? format(ms) : `${ms / 1000} s`), true);
      const step = (width - left) / points.length;
      for (const s of all) {
        let path = "";
        s.values.forEach((v, i) => {
          if (v === null) return;
          const x = left + (i + 0.5) * step;
          const joined = i > 0 && s.values[i - 1] !== null;
          path += `${joined ? "L" : "M"}${x.toFixed(1)} ${y(v).toFixed(1)}`;
          if (!joined && (s.values[i + 1] ?? null) === null) node.append(svg("circle", { class: "dot", "data-kind": s.kind, cx: x, cy: y(v), r: 2 }));
        });
        if (path) node.append(svg("path", { class: "line", "data-kind": s.kind, d: path }));
      }
      times(node, points, stepMs, left, step, width);
      return { left, step, top: TOP, bottom: HEIGHT - BOTTOM };
    },
  };
}

// columns draws bars side by side: [{label, value}].
export function columns(name, kind, bins, summary) {
  const values = bins.map((b) => b.value);
  return {
    empty: sum(values) === 0, height: LOW, format: count, summary, of: name, labels: bins.map((b) => b.label),
    series: [{ name: "Executions", kind, values, total: sum(values) }],
    paint(node, width) {
      const { left, y } = frame(node, width, LOW, ticks(Math.max(...values)), count);
      const step = (width - left) / bins.length;
      const every = Math.ceil(38 / step);
      bins.forEach((b, i) => {
        const v = b.value;
        if (v > 0) node.append(svg("rect", { class: "bar", "data-kind": kind, x: left + i * step + 2, width: Math.max(step - 4, 1), y: y(v), height: Math.max(y(0) - y(v), 0.75), rx: 1.5 }));
        if (i % every === 0) node.append(svg("text", { class: "tick", x: left + (i + 0.5) * step, y: LOW - 6, "text-anchor": "middle" }, b.label.replace(" MB", "")));
      });
      return { left, step, top: TOP, bottom: LOW - BOTTOM };
    },
  };
}

const ROW = 30;

// rows draws a bar for each name, the longest first: [{name, kind, value}]. tell formats a value.
export function rows(name, parts, tell = count, nothing = undefined) {
  const shown = parts.filter((p) => p.value > 0).sort((a, b) => b.value - a.value).slice(0, 8);
  const most = Math.max(1, ...shown.map((p) => p.value));
  return {
    empty: shown.length === 0, nothing, height: Math.max(shown.length * ROW, ROW), format: tell, of: name, labels: shown.map((p) => p.name),
    series: [{ name: "Count", kind: "", values: shown.map((p) => p.value), total: sum(shown.map((p) => p.value)) }],
    plain: true, summary: `${tell(sum(parts.map((p) => p.value)))} in all`,
    paint(node, width) {
      shown.forEach((p, i) => {
        const y = i * ROW;
        const room = Math.max(4, Math.floor((width - 76) / 7));
        const text = p.name.length > room ? `${p.name.slice(0, room - 1)}…` : p.name;
        node.append(svg("text", { class: "row-name", x: 0, y: y + 12 }, text),
          svg("text", { class: "row-value", x: width, y: y + 12, "text-anchor": "end" }, tell(p.value)),
          svg("rect", { class: "track", x: 0, y: y + 18, width, height: 6, rx: 3 }),
          svg("rect", { class: "bar", "data-kind": p.kind, x: 0, y: y + 18, width: Math.max(3, (width * p.value) / most), height: 6, rx: 3 }));
      });
      return null;
    },
  };
}

// trend draws numbers as a small line without axes; it returns null when there are too few.
export function trend(values, label) {
  if (values.length < 2) return null;
  const low = Math.min(...values), high = Math.max(...values);
  const x = (i) => (i * 72) / (values.length - 1) + 2;
  const y = (v) => (high === low ? 10 : 18 - ((v - low) / (high - low)) * 16);
  return svg("svg", { class: "trend", role: "img", "aria-label": label, width: 76, height: 20, viewBox: "0 0 76 20" },
    svg("path", { class: "line", "data-kind": "accent", d: values.map((v, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join("") }));
}
