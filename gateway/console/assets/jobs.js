// /jobs: the stored executions that have not ended, and the schedules of the visitor's tenant.
import { attempt, call, part, tell, trouble } from "/assets/api.js";
import { badge, byId, el } from "/assets/dom.js";
import { visitor } from "/assets/frame.js";
import { none, when } from "/assets/tables.js";

const without = "This gateway keeps no jobs: it has no state (AIRLOCK_STATE).";
let pages = 1;

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

// all reads the first pages of a list, and says whether there are more.
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
  return el("tr", {}, el("td", {}, el("a", { class: "row-link", href: `/functions/${part(f.name)}` }, f.name)), el("td", { class: "mono" }, s.cron), el("td", { class: "wide" }, s.timeZone),
    el("td", { class: "wide" }, s.missed), el("td", { class: "number" }, s.next ? when(s.next) : "–"));
}

async function refresh() {
  try {
    const [running, queued, functions] = await Promise.all([all("/api/executions?status=running&limit=100"), all("/api/executions?status=queued&limit=100"), all("/api/functions?limit=500")]);
    const jobs = [...running.items, ...queued.items], scheduled = functions.items.filter((f) => f.schedule);
    byId("jobs").replaceChildren(...(jobs.length === 0 ? [none(8, "No job is running or queued.")] : jobs.map(row)));
    byId("schedules").replaceChildren(...(scheduled.length === 0 ? [none(5, "No function has a schedule.")] : scheduled.map(schedule)));
    byId("more").hidden = !running.more && !queued.more && !functions.more;
    trouble(null);
  } catch (error) {
    trouble(error, without);
  }
}

byId("whose").hidden = visitor.open || visitor.may("audit:read") || visitor.may("cancel");
byId("others").hidden = visitor.open || visitor.may("cancel") || !visitor.may("audit:read");
byId("refresh").addEventListener("click", refresh);
byId("more").addEventListener("click", () => {
  pages++;
  refresh();
});
refresh();
