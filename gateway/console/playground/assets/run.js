// One run at a time: asked for, followed while it prints, stopped.

import { call, events } from "./api.js";
import * as output from "./output.js";
import { at, milliseconds } from "./dom.js";

let current = null;

export const running = () => current !== null;

// run executes a request and shows what becomes of it. It gives the result, or null when there is none.
export async function run(request, allowed, go) {
  const mine = current = new AbortController();
  output.clear();
  output.state("running", "Running");
  at("stop").disabled = false;
  at("run").disabled = true;
  const began = performance.now();
  const clock = setInterval(() => { at("clock").textContent = milliseconds(performance.now() - began); }, 100);
  let id = "", result = null;
  try {
    const answer = await call("/api/execute/stream", { body: request, signal: mine.signal });
    id = answer.headers.get("X-Execution-Id") ?? "";
    for await (const event of events(answer)) {
      const data = JSON.parse(event.data);
      if (event.name === "chunk") output.print(data.level, data.chunk);
      if (event.name === "complete") result = data;
      if (event.name === "error") throw new Error(data.detail ?? data.error);
    }
    if (!result) throw new Error("the connection ended before the result came");
  } catch (error) {
    if (mine.signal.aborted) result = id ? await left(id) : null;
    if (!result) {
      output.state(mine.signal.aborted ? "cancelled" : "error", mine.signal.aborted ? "Stopped" : "Not run");
      if (!mine.signal.aborted) output.fail("The gateway did not run it", error.message);
    }
  } finally {
    clearInterval(clock);
    at("clock").textContent = "";
    at("stop").disabled = true;
    at("run").disabled = false;
    current = null;
  }
  if (result) output.finish(result, allowed, go);
  return result;
}

// stop hangs up, which stops the guest.
export function stop() {
  current?.abort();
}

// left asks for what a stopped run left behind: it is there once the guest has ended and its record is written.
async function left(id) {
  for (const wait of [100, 400, 1500]) {
    await new Promise((done) => { setTimeout(done, wait); });
    try {
      const result = await (await call(`/api/result/${encodeURIComponent(id)}`)).json();
      if (result.usage) return result;
    } catch {
      // Not there yet; the record is in any case.
    }
  }
  return null;
}
