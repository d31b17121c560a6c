// /functions: the saved functions of the visitor's tenant, their webhooks and schedules.
import { call, part, trouble } from "/assets/api.js";
import { byId, el } from "/assets/dom.js";
import { none, when } from "/assets/tables.js";

let next = "", shown = false;

function row(f) {
  return el("tr", {}, el("td", { class: "name-cell" }, el("a", { class: "row-link", href: `/functions/${part(f.name)}` }, f.name)), el("td", { class: "number" }, String(f.version)),
    el("td", {}, f.hook ? (f.hook.scheme === "none" ? "unsigned" : f.hook.scheme) : "–"), el("td", { class: "mono" }, f.schedule ? f.schedule.cron : "–"), el("td", { class: "wide" }, f.schedule?.next ? when(f.schedule.next) : "–"),
    el("td", { class: "who-cell wide" }, f.createdBy || "–"), el("td", { class: "number wide" }, when(f.updatedAt)));
}

async function more() {
  try {
    const { body } = await call(`/api/functions?limit=100${next ? `&cursor=${part(next)}` : ""}`);
    if (!shown) byId("functions").replaceChildren();
    shown = true;
    byId("functions").append(...body.items.map(row));
    if (byId("functions").children.length === 0) byId("functions").append(none(7, "No function is saved yet. Write one in the playground and save it."));
    next = body.next ?? "";
    byId("more").hidden = !next;
    trouble(null);
  } catch (error) {
    trouble(error, "This gateway saves no functions: it has no state (AIRLOCK_STATE).");
  }
}

byId("more").addEventListener("click", more);
more();
