// /packages: the npm packages that code may import.
import { call, trouble } from "/assets/api.js";
import { badge, byId, el } from "/assets/dom.js";
import { bytes } from "/assets/format.js";
import { none } from "/assets/tables.js";

// cost describes what the import of a package costs a run.
function cost(p) {
  const scripts = p.installScripts?.length ? el("div", { class: "hint" }, `Install scripts did not run: ${p.installScripts.join(", ")}`) : null;
  return [p.image ? "None: runs start after it" : el("span", {}, `Each run evaluates it: ${p.why}`), scripts];
}

function row(p) {
  return el("tr", {}, el("td", { class: "mono" }, p.name, el("div", { class: "hint", title: p.range ? `asked for ${p.range}` : null }, p.version)), el("td", { class: "number wide" }, String(p.dependencies)),
    el("td", { class: "number wide" }, bytes(p.bytes)), el("td", {}, p.tiers.length > 0 ? p.tiers.join(", ") : el("span", { class: "hint" }, "none")), el("td", { class: "wide" }, p.level ? badge(p.level) : "–"), el("td", {}, cost(p)));
}

try {
  const { body } = await call("/api/packages");
  byId("packages").replaceChildren(...(body.items.length === 0 ? [none(6, "There are no packages.")] : body.items.map(row)));
} catch (error) {
  trouble(error);
  byId("packages").replaceChildren(none(6, "The packages could not be read."));
}
