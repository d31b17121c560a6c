// Calls of the gateway's API, as the visitor, and what the page says about them.
import { byId, visible } from "/assets/dom.js";
import { logIn } from "/assets/frame.js";
import { ask } from "/assets/session.js";

// call returns the body, the status and the entity tag of a response, and throws the problem of one that is no success.
export async function call(path, { body, headers, ...options } = {}) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await ask(path, { cache: "no-store", ...options, ...sent, headers: { ...(sent.body && { "Content-Type": "application/json" }), ...headers } });
  if (answer.status === 401) logIn();
  const read = await answer.json().catch(() => null);
  if (!answer.ok) throw Object.assign(new Error(read?.detail ?? `the gateway answered ${answer.status}`), { status: answer.status });
  return { body: read, status: answer.status, etag: answer.headers.get("ETag") };
}

// part escapes a text that is one part of a path.
export const part = encodeURIComponent;

// trouble shows what keeps the page from its data, or takes that away (null). without is what a gateway lacks that
// answers 501.
export function trouble(error, without) {
  const place = byId("trouble");
  place.hidden = error === null;
  if (error === null) return;
  const scope = error.status === 403 ? /scope ([\w:]+)/.exec(error.message)?.[1] : undefined;
  place.textContent = error.status === 501 ? without : scope ? `This page needs a credential with the scope ${scope}.` : visible(error.message);
  for (const waiting of document.querySelectorAll(".nothing")) if (waiting.textContent === "Loading …") waiting.textContent = "Not loaded.";
}

// tell shows what was done.
export function tell(text) {
  byId("told").hidden = false;
  byId("told").textContent = visible(text);
}

// attempt does what a control is for, with all controls of its place disabled, and says beside it why it failed.
export async function attempt(place, action) {
  const controls = [...place.querySelectorAll("button")].filter((b) => !b.disabled);
  for (const b of controls) b.disabled = true;
  place.querySelector(".refused")?.remove();
  try {
    await action();
  } catch (error) {
    const said = document.createElement("p");
    said.className = "refused";
    said.setAttribute("role", "alert");
    said.textContent = visible(error.message);
    place.append(said);
  } finally {
    for (const b of controls) b.disabled = false;
  }
}
