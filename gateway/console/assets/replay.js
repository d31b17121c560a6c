// Runs a recorded execution again and shows whether its outcome was the same.
import { badge, byId, el, put } from "/assets/dom.js";
import { exact } from "/assets/format.js";
import { logs } from "/assets/record.js";
import { ask } from "/assets/session.js";

export async function replay(id, button) {
  const place = byId("replay");
  byId("replayed").hidden = false;
  button.disabled = true;
  put(place, el("p", { class: "hint" }, "Running it again …"));
  try {
    const answer = await ask(`/api/audit/execution/${encodeURIComponent(id)}/replay`, { method: "POST" });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.detail ?? `the gateway answered ${answer.status}`);
    put(place, el("p", {}, badge(body.same ? "sound" : "broken", body.same ? "the same" : "differs"), " ",
      body.same ? `Replayed with the same result: ${body.result.status} after ${exact(body.result.usage.ticks)} ticks.` : "Replayed with a different result:"),
    body.differences.length > 0 ? el("ul", { class: "reasons" }, body.differences.map((d) => el("li", {}, d))) : null);
    logs(byId("logs"), body.result);
  } catch (error) {
    put(place, el("p", {}, badge("failed", "not replayed"), ` ${error.message}`));
  } finally {
    button.disabled = false;
  }
}
