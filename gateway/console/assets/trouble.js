// Shows on the page why it is not up to date.
import { byId, visible } from "/assets/dom.js";

// trouble shows a problem, {status, detail}, or removes it (null).
export function trouble(problem) {
  const place = byId("trouble");
  place.hidden = problem === null;
  place.textContent = problem === null ? "" : problem.status === 403 && problem.detail.includes("audit:read")
    ? "These pages show audit records: your credential needs the scope audit:read." : `Not up to date: ${visible(problem.detail)}.`;
  if (problem?.status >= 400 && problem.status < 500 && problem.status !== 429) {
    for (const waiting of document.querySelectorAll(".nothing")) if (waiting.textContent === "Loading …") waiting.textContent = "Not loaded.";
  }
}
