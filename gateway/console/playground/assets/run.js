// Starts one run at a time, follows its output, and stops it.

import { call, events } from "./api.js";
import * as output from "./output.js";
import { duration } from "/assets/format.js";
import { at } from "./page.js";

// patience is the time within which a stopped run must report its end, in ms.
const patience = 5000;

let current = null;

export const running = () => current !== null;

// run executes a request, shows its progress, and returns its result, or null if there is none.
export async function run(request, allowed, go) {
  const mine = current = new AbortController();
  output.clear();
  output.state("running", "Running");
  show();
  at("stop").disabled = false;
  at("run").disabled = true;
  const began = performance.now();
  const clock = setInterval(() => { at("clock").textContent = duration(performance.now() - began); }, 100);
  mine.id = "";
  let result = null;
  try {
    const answer = await call("/api/execute/stream", { body: request, signal: mine.signal });
    mine.id = answer.headers.get("X-Execution-Id") ?? "";
    for await (const event of events(answer)) {
      const data = JSON.parse(event.data);
      if (event.name === "chunk") output.print(data.level, data.chunk);
      if (event.name === "complete" || event.name === "paused") result = data;
      if (event.name === "error") throw new Error(data.detail ?? data.error);
    }
    if (!result) throw new Error("the connection ended before the result came");
  } catch (error) {
    output.state(mine.signal.aborted ? "cancelled" : "error", mine.signal.aborted ? "Stopped" : "Not run");
    if (!mine.signal.aborted) output.fail(mine.id ? "The gateway did not say how it ended" : "The gateway did not run it", error.message);
  } finally {
    clearInterval(clock);
    at("clock").textContent = "";
    at("stop").disabled = true;
    at("run").disabled = false;
    current = null;
  }
  if (result) output.finish(result, allowed, go);
  show();
  return result;
}

// show scrolls to the output, which narrow windows have below the editor. The output grows with what a run says.
function show() {
  if (matchMedia("(max-width: 60rem)").matches) at("state").scrollIntoView({ block: "start" });
}

// stop requests the end of the run: its stream then ends with a result. If it has no stream yet, or one that does not
// end, closing the connection stops it too.
export async function stop() {
  const mine = current;
  if (!mine) return;
  at("stop").disabled = true;
  output.state("running", "Stopping");
  if (mine.id === "") return mine.abort();
  setTimeout(() => mine.abort(), patience);
  try {
    await call(`/api/result/${encodeURIComponent(mine.id)}`, { method: "DELETE" });
  } catch {
    // It has ended by itself, or the timeout ends it.
  }
}
