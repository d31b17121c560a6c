// /functions/{name}: one function, its versions, aliases, schedule, webhook and runs.
import { attempt, call, part, tell, trouble } from "/assets/api.js";
import { definitionOf, hookOf } from "/assets/definition.js";
import { badge, block, byId, el } from "/assets/dom.js";
import { draft } from "/assets/drafts.js";
import { json, submits } from "/assets/fields.js";
import { query } from "/assets/filters.js";
import { bytes } from "/assets/format.js";
import { visitor } from "/assets/frame.js";
import { ran } from "/assets/ran.js";
import { codeOf } from "/assets/record.js";
import { link, none, status, when } from "/assets/tables.js";

const name = decodeURIComponent(location.pathname.split("/").at(-1));
const at = `/api/functions/${part(name)}`;
const mayChange = visitor.may("functions");
let current = null, tag = "", settings = null;

const button = (text, click, kind = "small") => el("button", { type: "button", class: kind, on: { click } }, text);
const change = (...controls) => (mayChange ? controls : []);
const place = (node) => node.closest("td, .form, .actions");

// act runs the action of a button, reads the function again, and then reports success.
function act(event, said, action) {
  return attempt(place(event.target), async () => {
    await action();
    await show();
    tell(said);
  });
}

function pairs(rows) {
  return rows.filter(([, v]) => v !== undefined && v !== "").map(([term, v]) => el("div", {}, el("dt", {}, term), el("dd", {}, v)));
}

function facts(f) {
  byId("facts").replaceChildren(...pairs([["Version", String(f.version)], ["Policy", f.policy ?? "standard"], ["Language", f.language ?? "javascript"], ["Size", bytes(f.codeBytes)],
    ["Saved by", f.createdBy], ["Changed", when(f.updatedAt)], ["Start", f.warm === null ? "not run yet" : f.warm ? "from a snapshot" : `cold: ${f.coldReason ?? "no snapshot"}`],
    ["Tools", (f.tools ?? []).map((t) => t.name ?? t).join(", ")], ["Environment", Object.keys(f.env ?? {}).join(", ")]]));
}

// code shows the code, or each file of a function that has several.
function code(f) {
  const files = Object.entries(f.files ?? {}), own = el("div");
  if (f.code) codeOf(own, { code: f.code, codeBytes: f.codeBytes });
  byId("code").replaceChildren(own, ...files.map(([file, text]) => el("details", { class: "pad" }, el("summary", { class: "mono" }, file), block(file, text, "block"))));
}

const lines = (text) => text.split("\n").map((line) => el("span", { data: { line: line[0] ?? "" } }, line || " "));

async function compare(from, to) {
  const { body } = await call(`${at}/diff?from=${from}&to=${to}`);
  byId("compared").hidden = false;
  byId("h-diff").textContent = `Version ${from} to ${to}`;
  byId("diff").replaceChildren(...(body.same ? [el("p", { class: "pad hint" }, "Both versions are the same.")] : [
    body.fields.length > 0 ? el("p", { class: "pad" }, "Changed fields: ", body.fields.map((f) => f.name ?? f.field ?? JSON.stringify(f)).join(", ")) : "",
    ...Object.entries(body.files).map(([file, text]) => block(`Difference of ${file}`, lines(text.replace(/^--- .*\n\+\+\+ .*\n/, "")), "diff"))]));
  byId("compared").scrollIntoView({ block: "nearest" });
}

function versions(all, latest) {
  byId("versions").replaceChildren(...all.map((v) => el("tr", {}, el("td", { class: "number" }, String(v.version)), el("td", {}, v.aliases.map((a) => [badge("idle", a), " "])),
    el("td", { class: "number" }, when(v.createdAt)), el("td", {}, el("div", { class: "row-actions" }, v.version === latest ? null : [
      button("Compare", (e) => attempt(place(e.target), () => compare(v.version, latest))),
      change(button("Make latest", (e) => act(e, `Version ${v.version} is the latest now.`, () => call(`${at}/aliases/latest`, { method: "PUT", body: { version: v.version } }))))])))));
}

function aliases(all) {
  byId("aliases").replaceChildren(...all.map((a) => el("tr", {}, el("td", {}, a.alias), el("td", { class: "number" }, String(a.version)), el("td", { class: "number" }, a.previous ? String(a.previous) : "–"),
    el("td", {}, el("div", { class: "row-actions" }, change(
      a.previous ? button("Roll back", (e) => act(e, `${a.alias} names version ${a.previous} again.`, () => call(`${at}/rollback`, { method: "POST", body: { alias: a.alias } }))) : null,
      a.alias === "latest" ? null : button("Delete", (e) => act(e, `The alias ${a.alias} is deleted.`, () => call(`${at}/aliases/${part(a.alias)}`, { method: "DELETE" })), "small danger")))))));
  const alias = el("input", { required: true, pattern: "[A-Za-z0-9][A-Za-z0-9_.\\-]*", maxlength: 64, size: 12, autocomplete: "off" });
  const version = el("input", { required: true, type: "number", min: 1, max: current.versions, value: current.version });
  byId("alias-form").replaceChildren(...change(el("form", { class: "form", on: { submit(event) {
    event.preventDefault();
    act(event, `${alias.value} names version ${version.value}.`, () => call(`${at}/aliases/${part(alias.value)}`, { method: "PUT", body: { version: version.valueAsNumber } }));
  } } }, el("label", {}, "Alias", alias), el("label", {}, "Version", version), el("button", { type: "submit" }, "Set"))));
}

const setSchedule = async (schedule) => call(at, { method: "PUT", body: { ...(await definitionOf(current)), schedule }, headers: tag ? { "If-Match": tag } : {} });

function schedule(s) {
  const parts = [s ? el("p", { class: "pad" }, el("code", {}, s.cron), ` in ${s.timeZone}`, s.next ? [", next run ", when(s.next)] : "") : el("p", { class: "pad hint" }, "It runs when it is called. With a schedule it runs by the clock too: 0 9 * * 1-5 is nine o'clock from Monday to Friday.")];
  if (mayChange) {
    const cron = el("input", { required: true, value: s?.cron ?? "", placeholder: "0 9 * * 1-5", size: 14, autocomplete: "off", spellcheck: "false" });
    const zone = el("input", { value: s?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone, size: 16, autocomplete: "off", spellcheck: "false" });
    const missed = el("select", {}, ["skip", "once", "all"].map((m) => el("option", { value: m, selected: m === (s?.missed ?? "skip") }, m)));
    parts.push(el("form", { class: "form", id: "schedule-form", on: { submit(event) {
      event.preventDefault();
      act(event, "The schedule is saved.", () => setSchedule({ cron: cron.value.trim(), timeZone: zone.value.trim() || "UTC", missed: missed.value, ...(s?.input !== undefined && { input: s.input }) }));
    } } }, el("label", {}, "Cron, five fields", cron), el("label", {}, "Time zone", zone), el("label", {}, "Missed runs", missed), el("button", { type: "submit" }, "Save"),
    s ? button("Remove", (e) => act(e, "The schedule is removed.", () => setSchedule(null)), "danger") : null));
  }
  byId("schedule").replaceChildren(...parts);
}

// hookForm edits the settings of the webhook. The secret is written and never read back.
function hookForm(h) {
  const input = (value, attributes) => el("input", { value: value ?? "", autocomplete: "off", spellcheck: "false", size: 16, ...attributes });
  const option = (selected) => (v) => el("option", { value: v, selected: v === selected }, v);
  const scheme = el("select", {}, ["standard", "github", "stripe", "slack", "shopify", "hmac-sha256", "shared-header", "none"].map(option(h?.scheme)));
  const secret = input("", { type: "password", autocomplete: "new-password", placeholder: h?.secretSet ? "unchanged" : "16 bytes or more" });
  const header = input(h?.header, { placeholder: "the usual ones" });
  const headers = input((h?.headers ?? []).join(", "), { placeholder: "X-Kind, X-Source" });
  const alias = el("select", {}, Object.keys(current.aliases).sort().map(option(h?.alias ?? "latest")));
  const later = el("input", { type: "checkbox", checked: h?.async });
  const show = () => {
    secret.closest("label").hidden = scheme.value === "none";
    header.closest("label").hidden = scheme.value !== "hmac-sha256" && scheme.value !== "shared-header";
  };
  const form = el("form", { class: "form", id: "hook-form", on: { submit(event) {
    event.preventDefault();
    const names = headers.value.split(",").map((n) => n.trim()).filter(Boolean);
    const body = { scheme: scheme.value, async: later.checked, ...(alias.value !== "latest" && { alias: alias.value }), ...(names.length > 0 && { headers: names }), ...(h?.toleranceSeconds && { toleranceSeconds: h.toleranceSeconds }),
      ...(secret.value && scheme.value !== "none" && { secret: secret.value }), ...(header.value.trim() && !header.closest("label").hidden && { header: header.value.trim() }) };
    act(event, "The webhook is saved.", () => call(`${at}/hook`, { method: "PUT", body, headers: { "If-Match": tag } }));
  } } }, el("label", {}, "Scheme", scheme), el("label", {}, "Secret", secret), el("label", {}, "Header of the signature", header), el("label", {}, "Other headers for the code", headers),
  el("label", {}, "Version that runs", alias), el("label", {}, "Answer 202 at once", later), el("button", { type: "submit" }, h ? "Save" : "Add"),
  h ? button("Remove", (e) => act(e, "The webhook is removed.", () => call(`${at}/hook`, { method: "DELETE", headers: { "If-Match": tag } })), "danger") : null);
  scheme.addEventListener("change", show);
  show();
  return form;
}

function hook(h) {
  byId("hook-edit").replaceChildren(...change(hookForm(h && { ...settings, secretSet: h.secretSet })));
  byId("hook").replaceChildren(h ? el("dl", { class: "pairs" }, pairs([["Address", el("code", { class: "break" }, `${location.origin}${h.path}`)], ["Scheme", h.scheme === "none" ? "none: requests are not signed" : h.scheme], ["Secret", h.secretSet ? "set" : "none"],
    ["Answers", h.async ? "202 at once; runs later" : "with the result"], ["Version", h.alias ?? "latest"], ["Code sees", el("details", {}, el("summary", {}, `${(h.sees ?? []).length} headers`), (h.sees ?? []).join(", "))]])) : el("p", { class: "hint" }, "It has none. A webhook is an address at which GitHub, Stripe, Slack, Shopify or a program of yours calls this function."));
}

// offer shows the versions that can be run, and keeps the choice.
function offer(all) {
  const choice = byId("run-version"), chosen = choice.value || "latest";
  const numbers = all.map((v) => el("option", { value: `version ${v.version}` }, `Version ${v.version}`));
  choice.replaceChildren(...Object.entries(current.aliases).map(([alias, version]) => el("option", { value: `alias ${alias}` }, `${alias} (version ${version})`)), ...numbers);
  choice.value = [...choice.options].some((o) => o.value === chosen) ? chosen : "alias latest";
}

byId("run").addEventListener("submit", (event) => {
  event.preventDefault();
  const area = byId("run-input"), [kind, which] = byId("run-version").value.split(" ");
  const input = area.value.trim() === "" ? null : json(area);
  if (input === undefined) return;
  byId("ran").replaceChildren(el("p", { class: "hint" }, "Running …"));
  attempt(byId("run"), async () => {
    try {
      const { body } = await call(`${at}/invoke`, { method: "POST", body: { input, [kind]: kind === "version" ? Number(which) : which } });
      byId("ran").replaceChildren(el("div", { class: "steps" }, el("div", { class: "ran" }, ran(body).filter(Boolean))));
    } catch (error) {
      byId("ran").replaceChildren();
      throw error;
    }
    await runs();
  });
});
submits(byId("run-input"));
draft("input", byId("run-input"));

function redeliver(event, id) {
  return attempt(place(event.target), async () => {
    const { body, status: code } = await call(`${at}/hook/redeliver`, { method: "POST", body: { execution: id } });
    byId("redelivered").replaceChildren(el("p", {}, code === 202 ? `Accepted as ${body.id}.` : ["Delivered again: ", badge(body.execution.status), ` ${body.problem ?? `answered ${body.answer?.status}`}`]));
    await runs();
  }, byId("redelivered"));
}

async function runs() {
  if (!visitor.may("audit:read")) return byId("runs").replaceChildren(none(6, "Runs are audit records: your credential needs the scope audit:read."));
  const of = { function: name, tenant: visitor.tenant };
  const { body } = await call(`/api/audit/executions?${query({ limit: "20", ...of })}`);
  const own = body.items;
  byId("all-runs").href = `/dashboard?${query({ window: "30d", ...of })}`;
  byId("all-runs").hidden = false;
  return byId("runs").replaceChildren(...(own.length === 0 ? [none(6, "It has not run.")] : own.map((e) => el("tr", {}, el("td", {}, link(e.id)), el("td", {}, status(e)), el("td", {}, e.via),
    el("td", { class: "number wide" }, String(e.function.version)), el("td", { class: "number wide" }, when(e.time)),
    el("td", {}, el("div", { class: "row-actions" }, e.via === "hook" && current.hook ? change(button("Redeliver", (event) => redeliver(event, e.id))) : null))))));
}

function inPlayground() {
  const { code: text, language, policy, timeout, memory, limits } = current;
  sessionStorage.setItem("playground", JSON.stringify({ code: text, language, policy, timeout, memory, limits }));
  sessionStorage.setItem("playground-function", name);
  location.assign("/playground");
}

function remove(event) {
  const b = event.target;
  if (b.textContent !== "Delete for good") {
    b.textContent = "Delete for good";
    return undefined;
  }
  return attempt(byId("actions"), async () => {
    await call(at, { method: "DELETE" });
    location.assign("/functions");
  });
}

async function show() {
  const [f, v, a] = await Promise.all([call(at), call(`${at}/versions?limit=100`), call(`${at}/aliases`)]);
  current = f.body;
  tag = f.etag;
  settings = await hookOf(current);
  byId("name").textContent = current.name;
  document.title = `${current.name} · Functions · Airlock`;
  byId("function").hidden = false;
  byId("readonly").hidden = mayChange;
  byId("actions").replaceChildren(...[Object.keys(current.files ?? {}).length > 0 ? null : button("Open in the playground", inPlayground, ""), ...change(button("Delete", remove, "danger"))].filter(Boolean));
  facts(current);
  code(current);
  byId("h-run").closest("section").hidden = !visitor.may("execute");
  offer(v.body.items);
  versions([...v.body.items].sort((x, y) => y.version - x.version), current.version);
  aliases(a.body.items);
  schedule(current.schedule);
  hook(current.hook);
  await runs();
  trouble(null);
}

show().catch((error) => trouble(error.status === 404 ? new Error(`There is no function ${name}.`) : error, "This gateway saves no functions: it has no state (AIRLOCK_STATE)."));
