// /sessions: the sessions of the visitor, and steps that run in them.
import { attempt, call, part, tell, trouble } from "/assets/api.js";
import { badge, byId, el, visibleJSON } from "/assets/dom.js";
import { none, status, when } from "/assets/tables.js";

const without = "This gateway keeps no sessions: they need a state, and where machines share it, keys for snapshots.";
let next = "", pages = 1, open = "";

// short returns the end of an ID, which differs.
const short = (id) => id.slice(-10).toLowerCase();
const button = (text, click, kind = "small") => el("button", { type: "button", class: kind, on: { click } }, text);

// act does what a button of a row is for, reads the list again, and then says that it is done.
function act(event, action) {
  return attempt(event.target.closest("td, form"), async () => {
    const said = await action();
    await refresh();
    tell(said);
  });
}

function row(s) {
  const at = `/api/sessions/${part(s.id)}`;
  return el("tr", {}, el("td", { class: "mono", title: s.id }, short(s.id), s.running ? [" ", badge("running")] : null), el("td", { class: "wide" }, s.policy), el("td", { class: "number" }, String(s.steps)),
    el("td", { class: "number wide" }, when(s.changedAt)), el("td", { class: "number wide" }, when(s.expiresAt)),
    el("td", {}, el("div", { class: "row-actions" }, button("Open", () => show(s.id)),
      button("Fork", (e) => act(e, async () => `${short((await call(`${at}/fork`, { method: "POST", body: {} })).body.id)} is a copy of ${short(s.id)}.`)),
      button("Delete", (e) => act(e, async () => {
        await call(at, { method: "DELETE" });
        if (open === s.id) hide();
        return `${short(s.id)} is deleted.`;
      }), "small danger"))));
}

async function refresh() {
  try {
    const items = [];
    next = "";
    for (let i = 0; i < pages; i++) {
      const { body } = await call(`/api/sessions?limit=100${next ? `&cursor=${part(next)}` : ""}`);
      items.push(...body.items);
      next = body.next ?? "";
      if (!next) break;
    }
    byId("sessions").replaceChildren(...(items.length === 0 ? [none(6, "You have no sessions.")] : items.map(row)));
    byId("more").hidden = !next;
    trouble(null);
  } catch (error) {
    trouble(error, without);
  }
}

function show(id) {
  open = id;
  byId("session").hidden = false;
  byId("h-session").textContent = `Session ${short(id)}`;
  byId("steps").replaceChildren();
  byId("code").focus();
}

function hide() {
  open = "";
  byId("session").hidden = true;
}

// shown returns a step as it ran: its code, what it printed, and its result or its error.
function shown(code, r) {
  return el("li", {}, el("pre", { tabindex: 0, role: "group", "aria-label": "Code" }, code), r.output ? el("pre", { class: "printed", tabindex: 0, role: "group", "aria-label": "Output" }, r.output.replace(/\n$/, "")) : null,
    el("p", {}, status(r), " ", el("a", { class: "mono", href: `/dashboard/execution/${part(r.id)}`, title: r.id }, short(r.id))), r.status === "completed" ? el("pre", { class: "value", tabindex: 0, role: "group", "aria-label": "Result" }, visibleJSON(r.result)) : el("p", { class: "refused" }, r.error ?? ""));
}

byId("step").addEventListener("submit", (event) => {
  event.preventDefault();
  const code = byId("code").value;
  attempt(byId("step"), async () => {
    const { body } = await call(`/api/sessions/${part(open)}/execute`, { method: "POST", body: { code } });
    byId("steps").append(shown(code, body));
    if (body.status === "completed") byId("code").value = "";
    await refresh();
  });
});
byId("close").addEventListener("click", hide);
byId("more").addEventListener("click", () => {
  pages++;
  refresh();
});
byId("new").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(byId("new"), async () => {
    const { body } = await call("/api/sessions", { method: "POST", body: { policy: byId("policy").value } });
    await refresh();
    show(body.id);
  });
});

async function policies() {
  const { body } = await call("/api/policies");
  byId("policy").replaceChildren(...body.items.filter((t) => t.waits).map((t) => el("option", { value: t.name, selected: t.name === body.default }, t.name)));
}

policies().catch(() => {}); // the list below says why
refresh();
