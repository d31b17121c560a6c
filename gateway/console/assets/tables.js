// Rows of executions, the same on every page.
import { badge, el } from "/assets/dom.js";
import { bytes, duration, moment } from "/assets/format.js";

// link returns a link to the page of an execution. It shows the end of the ID, the part in which IDs differ.
export function link(id) {
  return el("a", { class: "row-link mono", href: `/dashboard/execution/${encodeURIComponent(id)}`, title: id }, id.replace(/^exec_/, "").slice(-10).toLowerCase());
}

export function when(time) {
  return el("time", { datetime: time, title: new Date(time).toString() }, moment(time));
}

function who(e) {
  const name = e.function ? `${e.function.name} v${e.function.version}` : e.subject || "–";
  return [el("span", {}, name), e.tenant ? el("span", { class: "tenant" }, e.tenant) : null];
}

export function status(e) {
  return [badge(e.status), e.limit ? el("span", { class: "limit" }, e.limit) : null];
}

function found(e) {
  if (e.score > 0) return badge(e.level, `${e.level} ${e.score}`);
  return e.findings > 0 ? badge("low", `${e.findings} allowed`) : el("span", { class: "hint" }, "none");
}

export function none(columns, text) {
  return el("tr", {}, el("td", { colspan: columns, class: "nothing" }, text));
}

export function executionRow(e) {
  return el("tr", {}, el("td", {}, link(e.id)), el("td", {}, status(e)), el("td", { class: "wide" }, e.policy), el("td", { class: "wide" }, e.via), el("td", { class: "who-cell wide" }, who(e)),
    el("td", { class: "wide" }, found(e)), el("td", { class: "number wide" }, e.memoryBytes > 0 ? bytes(e.memoryBytes) : "–"), el("td", { class: "number" }, duration(e.durationMs)), el("td", { class: "number" }, when(e.time)));
}

export function failureRow(e) {
  return el("tr", {}, el("td", {}, link(e.id)), el("td", { class: "wide" }, status(e)), el("td", { class: "line-cell" }, e.error ?? ""), el("td", { class: "number" }, when(e.time)));
}

export function slowRow(e) {
  return el("tr", {}, el("td", {}, link(e.id)), el("td", {}, status(e)), el("td", { class: "number" }, duration(e.durationMs)), el("td", { class: "number" }, when(e.time)));
}
