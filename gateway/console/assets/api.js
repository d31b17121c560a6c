// Calls of the gateway's API, as the visitor, and their messages on the page.
import { byId, el, visible } from "/assets/dom.js";
import { logIn } from "/assets/frame.js";
import { ask } from "/assets/session.js";

const limited = "Your limit of requests is reached.";

// call returns the body, the status and the entity tag of a successful response, and throws the problem of any other. A read
// that exceeds the rate limit of the caller waits for Retry-After, and the page says so.
export async function call(path, { body, headers, ...options } = {}) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await ask(path, { cache: "no-store", ...options, ...sent, headers: { ...(sent.body && { "Content-Type": "application/json" }), ...headers } });
  if (answer.status === 401) logIn();
  const seconds = Number(answer.headers.get("Retry-After")) || 0;
  if (answer.status === 429 && seconds > 0 && !options.method && byId("trouble")) {
    trouble(new Error(`${limited} This page goes on in ${seconds} s`));
    await new Promise((done) => setTimeout(done, 1000 * seconds));
    if (byId("trouble").textContent.startsWith(limited)) trouble(null);
    return call(path, { headers, ...options });
  }
  const read = await answer.json().catch(() => null);
  if (!answer.ok) throw Object.assign(new Error(read?.detail || `the gateway answered ${answer.status}`), { status: answer.status, retryAfter: seconds });
  return { body: read, status: answer.status, etag: answer.headers.get("ETag") };
}

// part escapes a text that is one part of a path.
export const part = encodeURIComponent;

// sentence returns what went wrong as a sentence.
const sentence = (text) => visible(text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : "."));

// trouble shows why the page has no data, or removes that message (null). without names the part that a gateway lacks
// that answers 501.
export function trouble(error, without) {
  const place = byId("trouble");
  place.hidden = error === null;
  if (error === null) return;
  const scope = error.status === 403 ? /scope ([\w:]+)/.exec(error.message)?.[1] : undefined;
  place.textContent = error.status === 501 ? without : scope ? `This page needs a credential with the scope ${scope}.` : sentence(error.message);
  for (const waiting of document.querySelectorAll(".nothing")) if (waiting.textContent === "Loading …") waiting.textContent = "Not loaded.";
}

// tell shows a message about a completed action.
export function tell(text) {
  byId("told").hidden = false;
  byId("told").textContent = visible(text);
}

// attempt runs the action of a control, with all controls of its container disabled, and shows an error beside it. A
// disabled or removed control loses the focus, which returns to it, or goes to the message about the action, said.
export async function attempt(place, action, said = byId("told")) {
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const controls = [...place.querySelectorAll("button")].filter((b) => !b.disabled);
  for (const b of controls) b.disabled = true;
  place.querySelector(".refused")?.remove();
  try {
    await action();
  } catch (error) {
    place.append(el("p", { class: "refused", role: "alert" }, error.message));
  } finally {
    for (const b of controls) b.disabled = false;
    if (focused && [document.body, focused].includes(document.activeElement)) (focused.isConnected ? focused : said)?.focus({ preventScroll: true });
  }
}
