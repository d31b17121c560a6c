// An execution as it ended: what it printed, and its result or its error.
import { block, el, visibleJSON } from "/assets/dom.js";
import { duration } from "/assets/format.js";
import { link, status } from "/assets/tables.js";

// waiting says where to find what an execution waits for.
export const waiting = (kind) => el("p", { class: kind }, "It waits. The page ", el("a", { href: "/approvals" }, "Approvals"), " shows for what.");

function outcome(r) {
  if (r.status === "completed") return block("Result", visibleJSON(r.result), "value");
  if (r.status === "paused") return waiting();
  return el("p", { class: "refused" }, r.error ?? "");
}

// ran returns the parts that show an execution.
export function ran(r) {
  const place = link(r.id);
  place.className = "mono";
  return [r.output ? block("Output", r.output.replace(/\n$/, ""), "printed") : null,
    el("p", {}, status(r), " ", place, r.durationMs === undefined ? null : el("span", { class: "hint" }, ` ${duration(r.durationMs)}`)), outcome(r)];
}
