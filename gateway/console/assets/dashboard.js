// /dashboard: what runs, how it went, and what has ended.
import { Chart } from "/assets/chart.js";
import { badge, byId, el, put, visible } from "/assets/dom.js";
import { filters, query } from "/assets/filters.js";
import { bytes, clock, count, duration, exact, rate, share } from "/assets/format.js";
import { visitor } from "/assets/frame.js";
import { follow } from "/assets/live.js";
import { columns, lines, rows, stacked, trend } from "/assets/plots.js";
import { ask } from "/assets/session.js";
import { executionRow, failureRow, link, none, slowRow } from "/assets/tables.js";
import { trouble } from "/assets/trouble.js";

const charts = Object.fromEntries(["throughput", "latency", "status", "policy", "errors", "memory"].map((n) => [n, new Chart(byId(`c-${n}`))]));
const statuses = ["completed", "error", "timeout", "blocked", "cancelled"];

let shown = {};
let next = "";
let stop = () => {};

function say(id, text) {
  const place = byId(id);
  const shown = visible(text);
  if (place.textContent !== shown) place.textContent = shown;
}

function figures(f) {
  const t = f.total;
  byId("partial").hidden = f.complete;
  byId("key").dataset.state = "ready";
  say("k-executions", exact(t.executions));
  say("k-rate", `${rate(t.perSecond)} per second`);
  say("k-success", share(t.completed, t.executions));
  say("k-failed", `${count(t.executions - t.completed)} not completed`);
  const took = (ms) => (t.executions ? duration(ms) : "–");
  say("k-p50", took(t.durationMs.p50));
  say("k-p99", `p95 ${took(t.durationMs.p95)} · p99 ${took(t.durationMs.p99)}`);
  say("k-wait", `p95 ${took(t.queueMs.p95)} in line`);
  charts.throughput.draw(stacked(f.items, f.stepMs, statuses.map((s) => ({ name: s, kind: s, of: (p) => p.byStatus[s] ?? 0 })), `Steps of ${duration(f.stepMs)}`));
  charts.latency.draw(lines(f.items, f.stepMs, ["p50", "p95", "p99"].map((q) => ({ name: q, kind: q, of: (p) => p.durationMs[q], total: t.durationMs[q] })),
    (p) => p.executions > 0, duration, `Slowest ${duration(t.durationMs.max)}, mean ${duration(t.durationMs.mean)}`));
  charts.status.draw(rows("Status", Object.entries(t.byStatus).map(([name, value]) => ({ name, kind: name, value }))));
  charts.policy.draw(rows("Policy", Object.entries(f.byPolicy).map(([name, value]) => ({ name, kind: "accent", value }))));
  charts.errors.draw(rows("Reason", Object.entries(t.errorCategories).map(([name, value]) => ({ name: name.replace(/^limit:/, "limit: "), kind: kindOf(name), value })), count, t.executions ? "Everything completed." : undefined));
  charts.memory.draw(columns("Memory", "accent", f.memoryHistogram.map((b, i, all) => ({ label: b.upTo ? `≤ ${b.upTo / 2 ** 20} MB` : `> ${all[i - 1].upTo / 2 ** 20} MB`, value: b.count }))));
}

function kindOf(category) {
  if (category === "limit:wall" || category === "limit:cpu" || category === "timeout") return "timeout";
  return statuses.includes(category) ? category : "error";
}

function now(n) {
  say("k-running", exact(n.queue.running));
  say("k-places", `of ${exact(n.queue.places)} places`);
  say("k-waiting", exact(n.queue.waiting));
  const time = (o) => el("time", { datetime: o.receivedAt }, clock(o.receivedAt));
  put(byId("running"), n.running.length === 0 ? none(5, "Nothing runs at the moment.") : n.running.map((o) => el("tr", {},
    el("td", { class: "mono" }, o.id.replace(/^exec_/, "").slice(-10).toLowerCase()), el("td", {}, badge(o.state)), el("td", {}, o.policy),
    el("td", { class: "wide" }, o.function ? `${o.via} · ${o.function.name}` : o.via), el("td", { class: "number" }, time(o)))));
  if (n.functions === null) {
    say("k-processes", "–");
    say("k-health", "functions run elsewhere");
    put(byId("processes"), none(7, "Functions are no processes of this machine."));
    return;
  }
  const all = n.functions.processes ?? [];
  const ill = all.filter((p) => health(p) !== "healthy");
  say("k-processes", `${all.length - ill.length} / ${all.length}`);
  say("k-health", ill.length === 0 ? "healthy" : ill.map((p) => health(p)).join(", "));
  put(byId("processes"), all.map((p, i) => el("tr", {},
    el("td", {}, p.pid ? `pid ${p.pid}` : `place ${i + 1}`), el("td", { title: p.lastExit ? `last exit: ${p.lastExit}` : null }, badge(p.leaking ? "leaking" : p.state)),
    el("td", { class: "number" }, count(p.executions)), el("td", { class: "number wide" }, count(p.restarts)),
    el("td", {}, el("span", { class: "memory" }, el("span", {}, bytes(p.rssBytes)), trend(p.memoryTrend ?? [], `Memory of process ${i + 1}, last ${(p.memoryTrend ?? []).length} samples`))),
    el("td", { class: "number" }, `${Math.round(100 * p.cpuShare)} %`), el("td", { class: "number wide" }, p.heartbeat.startsWith("0001") ? "–" : clock(p.heartbeat)))));
}

function health(p) {
  if (p.leaking) return "leaking";
  return p.pid && p.state !== "exited" ? "healthy" : p.state;
}

function ended(e) {
  const nothing = e.next ? "None among the newest. Show older looks further back." : shown.status || shown.policy || shown.function ? "No execution fits these filters in this time." : "No executions in this time. Run one, and it appears here.";
  put(byId("executions"), e.executions.length ? e.executions.map(executionRow) : none(9, nothing));
  put(byId("failures"), e.failures.length ? e.failures.map(failureRow) : none(4, "None in this time."));
  put(byId("slowest"), e.slowest.length ? e.slowest.map(slowRow) : none(4, "None in this time."));
  if (byId("older").childElementCount === 0) {
    next = e.next ?? "";
    byId("more").hidden = next === "";
  }
}

byId("more").addEventListener("click", async () => {
  const button = byId("more");
  button.disabled = true;
  const answer = await ask(`/api/audit/executions?${query({ limit: "25", cursor: next, status: shown.status, policy: shown.policy, function: shown.function, tenant: shown.tenant })}`).catch(() => null);
  button.disabled = false;
  if (!answer?.ok) return trouble({ detail: "older executions cannot be read now" });
  const page = await answer.json();
  byId("older").append(...page.items.map((r) => executionRow({
    ...r, tenant: r.caller.tenant, subject: r.caller.subject, memoryBytes: r.usage.memoryBytes, findings: r.dangerAnalysis?.findings?.length ?? 0, score: r.dangerAnalysis?.score ?? 0, level: r.dangerAnalysis?.level ?? "",
  })));
  next = page.next ?? "";
  button.hidden = next === "";
});

// policies fills the choice of tiers: those of this deployment, and the one that the address names.
function policies({ names }) {
  const select = byId("filters").elements.policy;
  const all = shown.policy && !names.includes(shown.policy) ? [...names, shown.policy] : names;
  put(select, el("option", { value: "" }, "All"), all.map((name) => el("option", { value: name }, name)));
  select.value = shown.policy;
}

byId("tenant-filter").hidden = !visitor.scopes.includes("audit:read:all");
filters(byId("filters"), { window: "1h", status: "", policy: "", function: "", tenant: "" }, (values) => {
  shown = values;
  stop();
  byId("older").replaceChildren();
  say("filtered", [values.status, values.policy, values.function, values.tenant].filter(Boolean).join(" · "));
  stop = follow(`/api/live?${query({ view: "dashboard", ...values })}`, { figures, now, ended, policies, trouble }, trouble);
});
