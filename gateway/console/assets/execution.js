// /dashboard/execution/{id}: one execution, from its record.
import { badge, byId, copyButton, el, put, visible } from "/assets/dom.js";
import { bytes, duration, exact } from "/assets/format.js";
import { logIn, visitor } from "/assets/frame.js";
import { chain, codeOf, custody, decision, facts, findings, logs, result, usage } from "/assets/record.js";
import { replay } from "/assets/replay.js";
import { ask } from "/assets/session.js";

const id = decodeURIComponent(location.pathname.split("/").at(-1));
byId("id").textContent = visible(id);

// ran reports whether code ran for this record. Nothing did if it was blocked, got the result of an earlier execution, or
// is a decision about one.
const ran = (record) => !record.reused && record.status !== "blocked" && record.status !== "decided";

// exactly returns a seed as text, because it may have more digits than a JavaScript number.
const exactly = (name, value, context) => (name === "seed" && typeof value === "number" ? (context?.source ?? String(value)) : value);

// notReplayable returns why a record cannot be replayed, or "".
function notReplayable(record) {
  if (record.reused) return "No replay: this is the result of an earlier execution.";
  if (record.status === "blocked") return "No replay: the policy blocked the code, so nothing ran.";
  if (record.status === "cancelled") return "No replay: the record does not contain when the execution was cancelled.";
  if (record.status === "decided") return "No replay: this is a decision about an execution, so nothing ran.";
  if (record.engine && record.engine !== "quickjs") return `No replay: the code ran on ${record.engine}. Only quickjs can replay.`;
  if (!record.request) return "No replay: the request is not kept. The gateway keeps requests with AUDIT_CODE=keep.";
  return "";
}

async function read(path) {
  const answer = await ask(path, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (answer.status === 401) logIn();
  const body = JSON.parse(await answer.text(), exactly);
  if (!answer.ok) throw Object.assign(new Error(body.detail ?? `the gateway answered ${answer.status}`), { status: answer.status });
  return body;
}

// download fetches the target of a link: a plain link would send the cookie without the request token.
async function download(event) {
  const link = event.currentTarget;
  event.preventDefault();
  const answer = await ask(link.href).catch(() => null);
  if (answer?.status === 401) return logIn();
  if (!answer?.ok) return trouble({ message: `the gateway answered ${answer?.status ?? "nothing"}` });
  const place = URL.createObjectURL(await answer.blob());
  el("a", { href: place, download: link.download }).click();
  setTimeout(() => URL.revokeObjectURL(place), 60_000);
}

function trouble(error) {
  byId("loading").hidden = true;
  const place = byId("trouble");
  place.hidden = false;
  place.textContent = error.status === 404 ? "There is no record of this execution, or it is not one you may read."
    : error.status === 403 ? "These pages show audit records: your credential needs the scope audit:read." : `The record cannot be read: ${error.message}.`;
}

async function show() {
  const record = await read(`/api/audit/execution/${encodeURIComponent(id)}`);
  document.title = `${record.status} · ${id} · Airlock`;
  byId("loading").hidden = true;
  byId("execution").hidden = false;
  put(byId("state"), badge(record.status), record.limit ? el("span", { class: "limit" }, `limit: ${record.limit}`) : null,
    ran(record) ? el("span", { class: "hint" }, `${duration(record.durationMs)}, ${bytes(record.usage.memoryBytes)}, ${exact(record.usage.ticks)} ticks`)
      : el("span", { class: "hint" }, record.reused ? "the result of an earlier execution" : "nothing ran"));
  const link = (format) => {
    const anchor = el("a", { class: "button", href: `/api/reports/execution/${encodeURIComponent(id)}?format=${format}`, download: `${id}.${format}` }, `Report ${format.toUpperCase()}`);
    anchor.addEventListener("click", download);
    return anchor;
  };
  const obstacle = notReplayable(record);
  put(byId("actions"), obstacle ? null : [el("button", { type: "button", id: "start-replay", class: "primary" }, "Replay"), copyButton(`airlock replay ${id}`, "Copy replay command")],
    link("json"), link("csv"), obstacle ? el("span", { class: "hint", id: "no-replay" }, obstacle) : null);
  byId("start-replay")?.addEventListener("click", () => replay(id, byId("start-replay")));
  facts(byId("facts"), record);
  byId("error").hidden = !record.error;
  byId("error").textContent = visible(record.error ?? "");
  codeOf(byId("code"), record);
  if (ran(record)) usage(byId("usage"), record);
  else put(byId("usage"), el("p", { class: "hint" }, "Nothing ran, so nothing was used."));
  custody(byId("custody"), record);
  findings(byId("findings"), record);
  decision(byId("decision"), record);
  chain(byId("chain"), record.chain);
  // Output is not part of the record: the gateway keeps the last results of each caller for a while.
  const kept = visitor.may("execute") ? await read(`/api/result/${encodeURIComponent(id)}`).catch(() => null) : null;
  logs(byId("logs"), kept);
  result(byId("result"), kept, record);
}

show().catch(trouble);
