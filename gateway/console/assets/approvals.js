// /approvals: the executions that wait, and the decisions of the visitor about them.
import { outline, shown } from "/assets/answer.js";
import { attempt, call, part, tell, trouble } from "/assets/api.js";
import { badge, block, byId, el, visibleJSON } from "/assets/dom.js";
import { draft } from "/assets/drafts.js";
import { json } from "/assets/fields.js";
import { visitor } from "/assets/frame.js";
import { when } from "/assets/tables.js";
import { keyed, watch } from "/assets/watch.js";

const without = "This gateway keeps no executions that wait: it has no state, or no keys for snapshots.";

// decide sends a decision and removes the card, or says on the card why it was refused.
function decide(id, decision, place) {
  return attempt(place, async () => {
    await call(`/api/executions/${part(id)}/resume`, { method: "POST", headers: { Prefer: "respond-async" }, body: { decisions: [decision] } });
    tell(`${decision.decision === "reject" ? "Rejected" : "Approved"}: operation ${decision.seq} of ${id}.`);
    await refresh();
  });
}

// choices returns the form of an operation that needs a decision.
function choices(id, w) {
  const reason = draft(`reason ${id} ${w.seq}`, el("input", { type: "text", maxlength: 1000, autocomplete: "off" }));
  const area = draft(`answer ${id} ${w.seq}`, el("textarea", { spellcheck: "false" }, w.tool ? visibleJSON(w.args) : outline(w.schema)));
  const asks = w.tool || w.schema;
  const form = el("form", {},
    asks ? el("label", {}, w.tool ? "Arguments, as the tool gets them" : "Answer, as JSON", area) : null,
    w.schema && !w.tool ? shown(w.schema) : null,
    el("label", {}, "Reason (kept in the record)", reason),
    el("div", { class: "choices" },
      el("button", { type: "submit", class: "primary" }, w.schema && !w.tool ? "Answer" : "Approve"),
      el("button", { type: "button", class: "danger", on: { click: () => decide(id, { seq: w.seq, decision: "reject", ...why() }, form) } }, "Reject")));
  const why = () => (reason.value.trim() ? { reason: reason.value.trim() } : {});
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!asks || (w.tool && area.value === visibleJSON(w.args))) return decide(id, { seq: w.seq, decision: "approve", ...why() }, form);
    const value = json(area);
    if (value === undefined) return undefined;
    return decide(id, w.tool ? { seq: w.seq, decision: "edit", args: value, ...why() } : { seq: w.seq, decision: "respond", value, ...why() }, form);
  });
  return form;
}

const kinds = { approval: "approval", event: "event", sleep: "time", tool: "answer" };

function operation(id, w, decided) {
  const title = w.title || w.tool || w.name || (w.kind === "sleep" ? "sleep" : `operation ${w.seq}`);
  const parts = [el("h3", {}, badge("waiting", kinds[w.kind] ?? w.kind), title, w.tool && w.title ? el("span", { class: "hint" }, w.tool) : null)];
  if (w.detail) parts.push(el("p", {}, w.detail));
  if (w.dueAt) parts.push(el("p", { class: "hint" }, "Goes on at ", when(w.dueAt)));
  if (w.expiresAt) parts.push(el("p", { class: "hint" }, "Waits until ", when(w.expiresAt)));
  if (decided) parts.push(el("p", {}, badge("sound", decided.decision), ` by ${decided.by}`, decided.reason ? `: ${decided.reason}` : ""));
  else if (w.kind === "approval" && visitor.may("approve")) parts.push(choices(id, w));
  else {
    if (w.args !== undefined) parts.push(block("Arguments", visibleJSON(w.args)));
    if (w.kind === "approval") parts.push(el("p", { class: "hint" }, "To decide, your credential needs the scope approve."));
  }
  return el("div", { class: "operation" }, parts);
}

function card(e) {
  const code = el("details", {}, el("summary", {}, "Code"));
  code.addEventListener("toggle", async () => {
    if (!code.open || code.querySelector("pre")) return;
    try {
      const { body } = await call(`/api/executions/${part(e.id)}`);
      code.append(block("Code", body.code ?? "The code is not shown."));
    } catch (problem) {
      code.append(el("p", { class: "refused" }, problem.message));
    }
  });
  const name = e.function ? `${e.function.name} v${e.function.version}` : e.id;
  const fact = (term, value) => el("div", {}, el("dt", {}, `${term} `), el("dd", {}, value));
  return el("li", { class: "card" },
    el("h2", {}, name, badge(e.status === "paused" ? "waiting" : "running", e.status)),
    el("dl", { class: "asked" }, fact("asked by", e.requestedBy), fact("since", when(e.pausedAt)), fact("until", when(e.expiresAt)), fact("policy", e.policy),
      visitor.may("audit:read") ? fact("record", el("a", { href: `/dashboard/execution/${part(e.id)}`, class: "mono" }, e.id)) : null),
    e.waiting.map((w) => operation(e.id, w, e.decided.find((d) => d.seq === w.seq))), code);
}

const show = keyed(byId("paused"), card, () => el("li", { class: "nothing" }, "Nothing waits. ",
  "Code waits where it calls airlock.approve, airlock.waitForEvent or airlock.sleep, or a tool that needs approval."));
let pages = 1;

async function read() {
  const items = [];
  let next = null;
  for (let i = 0; i < pages; i++) {
    const { body } = await call(`/api/executions?status=paused&limit=50${next ? `&cursor=${part(next)}` : ""}`);
    items.push(...body.items);
    next = body.next;
    if (!next) break;
  }
  show(items);
  byId("more").hidden = !next;
}

const refresh = watch(5000, read, (error) => trouble(error, without));
byId("refresh").addEventListener("click", refresh);
byId("more").addEventListener("click", () => {
  pages++;
  refresh();
});
