// The findings of the policy in the code, while the visitor types.

import { call } from "./api.js";
import { el } from "/assets/dom.js";
import { rest } from "/assets/session.js";
import { at, say } from "./page.js";

const pause = 400; // ms without typing before the code is checked
const grave = { critical: "error", high: "error", medium: "warning", low: "info" };

// watch returns a function to call after each change. request returns the code to check; found receives the
// diagnostics.
export function watch({ request, found, go }) {
  let timer = 0, asking = null;
  function later(ms) {
    clearTimeout(timer);
    timer = setTimeout(ask, ms);
  }
  async function ask() {
    const wait = rest();
    if (wait > 0) {
      verdict("waiting", `Checked again in ${Math.ceil(wait / 1000)} s`);
      return later(wait);
    }
    asking?.abort();
    const mine = asking = new AbortController();
    const { code, language, policy } = request();
    if (code.trim() === "") {
      found(show({ findings: [], syntaxError: null, policy }, go));
      return verdict("none", "");
    }
    try {
      const answer = await (await call("/api/analyze", { body: { code, language, policy }, signal: mine.signal })).json();
      if (mine.signal.aborted) return;
      found(show({ findings: answer.dangerAnalysis.findings, syntaxError: answer.syntaxError, policy, decision: answer.decision, analysis: answer.dangerAnalysis }, go));
    } catch (error) {
      if (mine.signal.aborted) return;
      verdict("waiting", error.retryAfter ? `Checked again in ${error.retryAfter} s` : `Not checked: ${error.message}`);
      if (error.retryAfter) later(error.retryAfter * 1000);
    }
  }
  return () => later(pause);
}

function verdict(state, text) {
  at("verdict").dataset.state = state;
  say(at("verdict"), text);
}

// show lists the findings and returns them as diagnostics.
function show({ findings, syntaxError, policy, decision, analysis }, go) {
  const list = syntaxError ? [{ severity: "syntax", category: "syntax error", ...syntaxError }, ...findings] : findings;
  at("findings").replaceChildren(...list.map((f) => {
    const place = { type: "button", class: "pg-place quiet", "aria-label": `${f.line}:${f.column}, go there`, on: { click: () => go(f.line, f.column) } };
    return el("li", { data: { severity: f.severity } },
      el("span", { class: "pg-severity" }, f.severity === "syntax" ? "error" : f.severity),
      el("span", { class: "pg-found" }, el("strong", {}, f.category.replaceAll("_", " ")), ` ${f.message}`),
      el("button", place, `${f.line}:${f.column}`));
  }));
  at("count").hidden = list.length === 0;
  at("count").textContent = list.length;
  if (decision) {
    const reason = decision.allow ? "" : decision.reasons.join("; ");
    say(at("reason"), list.length === 0 ? `No findings under ${policy}.` : reason || `Danger ${analysis.level}, score ${analysis.score}: ${policy} lets it run.`);
    if (syntaxError) verdict("error", `Line ${syntaxError.line}: does not parse`);
    else if (decision.allow) verdict("good", `May run under ${policy}`);
    else verdict("bad", `Blocked under ${policy}`);
  } else {
    say(at("reason"), "What the policy finds in the code is listed here while you type.");
  }
  return list.map((f) => ({
    line: f.line, column: f.column, severity: grave[f.severity] ?? "error",
    message: f.severity === "syntax" ? f.message : `${f.category.replaceAll("_", " ")} (${f.severity}): ${f.message}`,
  }));
}
