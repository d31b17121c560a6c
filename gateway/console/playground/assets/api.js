// Calls of the gateway's API, as the visitor.

import { logIn, visitor } from "/assets/frame.js";
import { ask } from "/assets/session.js";

// Refused is the error of a request that the gateway refused: the detail of its problem document.
export class Refused extends Error {
  constructor(status, problem, retryAfter) {
    super(problem.detail ?? problem.error ?? `the gateway answers ${status}`);
    this.status = status;
    this.code = problem.code;
    this.retryAfter = retryAfter;
  }
}

// call returns a successful response, and throws an error to show for any other.
export async function call(path, { method = "GET", body, signal } = {}) {
  const options = { method, signal, headers: { Accept: "*/*" } };
  if (body !== undefined) {
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
    options.headers["Content-Type"] = "application/json";
  }
  const answer = await ask(path, options);
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  if (answer.status === 401 && !visitor.open) logIn();
  throw new Refused(answer.status, problem, Number(answer.headers.get("Retry-After")) || 0);
}

// events yields server-sent events (WHATWG HTML §9.2) as they arrive, each {name, id, data}.
export async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", event = { name: "message", id: "", data: [] };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (event.data.length > 0) yield { ...event, data: event.data.join("\n") };
        event = { name: "message", id: event.id, data: [] };
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue; // a heartbeat
      const field = colon < 0 ? line : line.slice(0, colon);
      const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") event.name = text;
      else if (field === "id") event.id = text;
      else if (field === "data") event.data.push(text);
    }
  }
}
