// /jobs: the stored executions that have not ended, and the schedules of the visitor's tenant.
import { attempt, call, part, tell, trouble } from "/assets/api.js";
import { badge, byId, el } from "/assets/dom.js";
import { visitor } from "/assets/frame.js";
import { none, when } from "/assets/tables.js";
import { keyed, watch } from "/assets/watch.js";

const without = "This gateway keeps no jobs: it has no state (AIRLOCK_STATE).";
let pages = 1, moreFunctions = false;

const short = (id) => id.replace(/^exec_/, "").slice(-10).toLowerCase();

function cancel(event, job) {
  return attempt(event.target.closest("td"), async () => {
    await call(`/api/executions/${part(job.id)}`, { method: "DELETE" });
    await refresh();
    tell(`${short(job.id)} is cancelled.`);
  });
}

function row(job) {
  const own = job.cancellable ? el("button", { type: "button", class: "small danger", "aria-label": `Cancel ${short(job.id)}`, on: { click: (e) => cancel(e, job) } }, "Cancel") : null;
  return el("tr", {}, el("td", { class: "mono", title: job.id }, short(job.id)), el("td", {}, badge(job.status)), el("td", { class: "wide" }, job.function ? `${job.function.name} v${job.function.version}` : "–"), el("td", { class: "wide" }, job.via),
    el("td", { class: "who-cell wide" }, job.requestedBy), el("td", { class: "number" }, when(job.receivedAt)), el("td", { class: "number wide" }, String(job.attempts)), el("td", {}, el("div", { class: "row-actions" }, own)));
}

// all reads the first pages of a list, and reports whether there are more.
async function all(path) {
  const items = [];
  let next = "";
  for (let i = 0; i < pages; i++) {
    const { body } = await call(`${path}${next && `&cursor=${part(next)}`}`);
    items.push(...body.items);
    next = body.next ?? "";
    if (!next) break;
  }
  return { items, more: next !== "" };
}

function schedule(f) {
  const s = f.schedule;
  return el("tr", {}, el("td", { class: "name-cell" }, el("a", { class: "row-link", href: `/functions/${part(f.name)}` }, f.name)), el("td", { class: "mono" }, s.cron), el("td", { class: "wide" }, s.timeZone),
    el("td", { class: "wide" }, s.missed), el("td", { class: "number" }, s.next ? when(s.next) : "–"));
}

const showJobs = keyed(byId("jobs"), row, () => none(8, "No job is running or queued. A request with the header Prefer: respond-async becomes a job."));
const showSchedules = keyed(byId("schedules"), schedule, () => none(5, "No function has a schedule. Give one to a function on its page."));

let stale = true; // the schedules, which change seldom, are to be read too

async function read() {
  const [running, queued, functions] = await Promise.all([all("/api/executions?status=running&limit=100"), all("/api/executions?status=queued&limit=100"), stale ? all("/api/functions?limit=500") : null]);
  const queuedBefore = queued.items.filter((job) => !running.items.some((other) => other.id === job.id)); // it began in between
  showJobs([...running.items, ...queuedBefore]);
  if (functions) {
    showSchedules(functions.items.filter((f) => f.schedule).map((f) => ({ id: f.name, ...f })));
    moreFunctions = functions.more;
    stale = false;
  }
  byId("more").hidden = !running.more && !queued.more && !moreFunctions;
}

byId("whose").hidden = visitor.open || !visitor.may("execute") || visitor.may("audit:read") || visitor.may("cancel");
byId("others").hidden = visitor.open || !visitor.may("execute") || visitor.may("cancel") || !visitor.may("audit:read");
const refresh = watch(30_000, read, (error) => trouble(error, without));
byId("refresh").addEventListener("click", () => {
  stale = true;
  refresh();
});
byId("more").addEventListener("click", () => {
  pages++;
  stale = true;
  refresh();
});
