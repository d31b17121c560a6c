// /security: the findings of the scan, the executions that the policy blocked, and whether the records are intact.
import { Chart } from "/assets/chart.js";
import { badge, byId, el, put, visible } from "/assets/dom.js";
import { filters, query } from "/assets/filters.js";
import { count, duration, exact, moment, share } from "/assets/format.js";
import { visitor } from "/assets/frame.js";
import { follow } from "/assets/live.js";
import { rows, stacked } from "/assets/plots.js";
import { ask } from "/assets/session.js";
import { link, status, when } from "/assets/tables.js";
import { trouble } from "/assets/trouble.js";

const charts = Object.fromEntries(["severity", "category", "blocked", "tenants", "levels"].map((n) => [n, new Chart(byId(`c-${n}`))]));
const severities = ["critical", "high", "medium", "low"];
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
  say("k-flagged", exact(t.flagged));
  say("k-flagged-share", `${share(t.flagged, t.executions)} of ${count(t.executions)} executions`);
  say("k-blocked", exact(t.blocked));
  say("k-blocked-share", `${count(t.allowed)} allowed`);
  say("k-critical", exact(t.bySeverity.critical ?? 0));
  say("k-high", `${count(t.bySeverity.high ?? 0)} high, ${count(t.bySeverity.medium ?? 0)} medium`);
  const categories = Object.entries(t.byCategory).sort((a, b) => b[1] - a[1]).map(([name]) => name);
  say("k-categories", exact(categories.length));
  say("k-category", categories.length ? `most: ${categories[0]}` : "none found");
  const step = `Steps of ${duration(f.stepMs)}`;
  charts.severity.draw(stacked(f.items, f.stepMs, severities.map((s) => ({ name: s, kind: s, of: (p) => p.bySeverity[s] ?? 0 })), step));
  const first = categories.slice(0, 5);
  const kinds = ["accent", "k1", "k2", "k3", "k4"];
  const series = first.map((c, i) => ({ name: c, kind: kinds[i], of: (p) => p.byCategory[c] ?? 0 }));
  if (categories.length > 5) {
    series.push({ name: "others", kind: "other", of: (p) => Object.entries(p.byCategory).reduce((n, [c, v]) => (first.includes(c) ? n : n + v), 0) });
  }
  charts.category.draw(stacked(f.items, f.stepMs, series, step));
  charts.blocked.draw(stacked(f.items, f.stepMs, [{ name: "blocked", kind: "blocked", of: (p) => p.blocked }, { name: "allowed", kind: "allowed", of: (p) => p.allowed }], step));
}

function threats(t) {
  charts.tenants.draw(rows("Tenant", Object.entries(t.flaggedByTenant).map(([name, value]) => ({ name: name || "(none)", kind: "accent", value })), count, "No tenant has findings in this time."));
  const kinds = { safe: "k4", low: "low", medium: "medium", high: "high", critical: "critical" };
  charts.levels.draw(rows("Level", Object.entries(t.byLevel).map(([name, value]) => ({ name, kind: kinds[name] ?? "other", value }))));
  put(byId("threats"), t.items.length === 0 ? el("li", { class: "nothing" }, "No execution with findings in this time.") : t.items.map((one) => el("li", {},
    el("div", { class: "threat-head" }, badge(one.severity), el("strong", {}, one.category), el("span", { class: "threat-message" }, one.message),
      el("span", { class: "threat-end" }, status(one), one.tenant ? el("span", { class: "tenant" }, one.tenant) : null, when(one.time))),
    el("div", { class: "excerpt" }, el("span", { class: "place" }, `${one.file ? `${one.file}:` : ""}${one.line}:${one.column}`), el("code", {}, one.excerpt)),
    el("p", { class: "hint" }, "Execution ", link(one.id), `, score ${one.score}`, one.findings > 1 ? `, ${one.findings} findings, this is the worst` : ""))));
}

const states = {
  never: "Not verified yet", sound: "Sound", broken: "Broken", failed: "Could not be read", unsupported: "Not from here",
};

function chain(c) {
  say("k-chain", c.running && c.state === "never" ? "…" : states[c.state] ?? c.state);
  say("k-chain-when", c.running ? "being verified" : c.checkedAt ? `at ${moment(c.checkedAt)}` : "");
  const seen = c.checkedAt ? ` ${exact(c.records)} records of ${exact(c.writers)} writers, read at ${moment(c.checkedAt)} in ${duration(c.durationMs)}.` : "";
  const text = {
    sound: `Every record is present, unaltered and in order.${seen}`, broken: `${exact(c.problemCount)} problems.${seen}`,
    failed: "The records could not be read to the end; the gateway's log says why.", never: "Each record has the hash of the one before it. Verifying reads them all.",
    unsupported: "This store cannot be verified from here; use airlock audit verify.",
  }[c.state];
  put(byId("chain"), badge(c.state, states[c.state] ?? c.state), el("span", {}, c.running ? `${text} Being verified now.` : text));
  const button = byId("verify");
  button.hidden = !visitor.scopes.includes("audit:read:all") || c.state === "unsupported";
  button.disabled = c.running;
  byId("problems-scroll").hidden = c.problems.length === 0;
  put(byId("problems"), c.problems.map((p) => el("tr", {}, el("td", {}, badge("broken", p.fault)), el("td", { class: "mono" }, p.id ?? "–"),
    el("td", { class: "mono" }, p.writer ? `${p.writer}${p.seq ? ` #${p.seq}` : ""}` : "–"), el("td", {}, p.detail))));
}

byId("verify").addEventListener("click", async () => {
  const answer = await ask("/api/audit/verification", { method: "POST" }).catch(() => null);
  if (answer?.ok) chain(await answer.json());
  else trouble({ detail: "the verification could not be started" });
});

byId("tenant-filter").hidden = !visitor.scopes.includes("audit:read:all");
filters(byId("filters"), { window: "24h", tenant: "" }, (values) => {
  stop();
  stop = follow(`/api/live?${query({ view: "security", ...values })}`, { figures, threats, chain, pages: (p) => say("k-pages", exact(p.policyReports)), trouble }, trouble);
});
