// /sessions: the sessions of the visitor, and steps that run in them.
import { attempt, call, part, tell, trouble } from "/assets/api.js";
import { badge, block, byId, el, visible } from "/assets/dom.js";
import { draft } from "/assets/drafts.js";
import { submits } from "/assets/fields.js";
import { visitor } from "/assets/frame.js";
import { ran } from "/assets/ran.js";
import { none, when } from "/assets/tables.js";

const without = "This gateway keeps no sessions: they need a state, and where machines share it, keys for snapshots.";
let next = "", pages = 1;

// short returns the end of an ID, the part in which IDs differ.
const short = (id) => id.slice(-10).toLowerCase();
const button = (text, click, kind = "small") => el("button", { type: "button", class: kind, on: { click } }, text);

// act runs the action of a row's button, reads the list again, and then reports success.
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
    el("td", {}, el("div", { class: "row-actions" }, button("Open", () => open(s.id)),
      button("Fork", (e) => act(e, async () => `${short((await call(`${at}/fork`, { method: "POST", body: {} })).body.id)} is a copy of ${short(s.id)}.`)),
      button("Delete", (e) => act(e, async () => {
        await call(at, { method: "DELETE" });
        if (asked() === s.id) open("");
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
    byId("sessions").replaceChildren(...(items.length === 0 ? [none(6, "You have no sessions. Choose a policy above, and begin one.")] : items.map(row)));
    byId("more").hidden = !next;
    trouble(null);
  } catch (error) {
    trouble(error, without);
  }
}

const asked = () => new URLSearchParams(location.search).get("session") ?? "";

// open opens a session, or closes the one that is open (""), and keeps that in the address of the page.
function open(id) {
  if (id !== asked()) history.pushState(null, "", id ? `/sessions?session=${part(id)}` : "/sessions");
  show();
  if (id) byId("code").focus();
}

// show shows the session that the address of the page names.
async function show() {
  const id = asked();
  byId("step").querySelector(".refused")?.remove();
  byId("session").hidden = id === "";
  if (id === "") return;
  byId("h-session").textContent = `Session ${short(id)}`;
  byId("steps").replaceChildren();
  byId("before").textContent = "";
  byId("step").hidden = false;
  try {
    const { body } = await call(`/api/sessions/${part(id)}`);
    if (id === asked() && body.steps > 0) byId("before").textContent = `${body.steps === 1 ? "One step" : `${body.steps} steps`} ran before: what they declared at the top level is there, and what they printed is not repeated here.`;
  } catch (error) {
    if (id !== asked()) return;
    byId("step").hidden = error.status === 404;
    byId("before").textContent = error.status === 404 ? "There is no such session. It has expired, was deleted, or is another caller's." : visible(error.message);
  }
}

// shown returns a step as it ran: its code, what it printed, and its result or its error.
function shown(code, r) {
  return el("li", {}, block("Code", code), ran(r));
}

byId("step").addEventListener("submit", (event) => {
  event.preventDefault();
  const code = byId("code").value, id = asked();
  attempt(byId("step"), async () => {
    const { body } = await call(`/api/sessions/${part(id)}/execute`, { method: "POST", body: { code } });
    if (id !== asked()) return;
    byId("steps").append(shown(code, body));
    if (body.status === "completed") byId("code").value = "";
    await refresh();
  });
});
byId("close").addEventListener("click", () => {
  open("");
  byId("h-sessions").focus();
});
byId("more").addEventListener("click", () => {
  pages++;
  refresh();
});
byId("new").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(byId("new"), async () => {
    const { body } = await call("/api/sessions", { method: "POST", body: { policy: byId("policy").value } });
    await refresh();
    open(body.id);
  });
});
submits(byId("code"));
addEventListener("popstate", show);

async function policies() {
  const { body } = await call("/api/policies");
  byId("policy").replaceChildren(...body.items.filter((t) => t.waits).map((t) => el("option", { value: t.name, selected: t.name === body.default }, t.name)));
}

byId("new").hidden = !visitor.may("execute");
draft("step", byId("code"));
policies().catch(() => {}); // the list below says why
refresh();
show();
