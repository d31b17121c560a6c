// The output, the result and the usage of a run.

import { block, el, visibleJSON } from "/assets/dom.js";
import { bytes, duration } from "/assets/format.js";
import { visitor } from "/assets/frame.js";
import { waiting } from "/assets/ran.js";
import { at, say } from "./page.js";

// The shown length of one value; the rest is in the record.
const longest = 200_000;
const levels = { debug: "debug", warn: "warning", error: "error" };

let printed = 0;

// clear removes the output of the last run.
export function clear() {
  printed = 0;
  at("output").replaceChildren();
  for (const id of ["failure", "value", "usage", "record"]) at(id).hidden = true;
  at("failure").replaceChildren();
}

// print adds a console message.
export function print(level, text) {
  const log = at("output");
  const follow = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  const word = levels[level];
  log.append(el("div", { class: "pg-line", data: { level } },
    word && el("span", { class: "pg-level" }, word), el("span", { class: "pg-said" }, text.replace(/\n$/, ""))));
  printed++;
  if (follow) log.scrollTop = log.scrollHeight;
}

// state shows the state of the run: idle, running, or the status of its result.
export function state(name, text) {
  at("state").dataset.state = name;
  say(at("state"), text);
}

// fail shows why there is no result. go moves the cursor to a place in the code.
export function fail(title, message, { exception, go } = {}) {
  const box = at("failure");
  box.replaceChildren(el("strong", {}, title), el("p", { class: "pg-message" }, cut(message)));
  if (exception?.line > 0 && !exception.file) {
    box.append(el("button", { type: "button", on: { click: () => go(exception.line, exception.column) } }, `Go to line ${exception.line}`));
  }
  if (exception?.stack) {
    box.append(el("details", {}, el("summary", {}, "Stack"), block("Stack", cut(exception.stack))));
  }
  box.hidden = false;
}

const said = {
  completed: "Completed", error: "Error", timeout: "Timed out", blocked: "Blocked", cancelled: "Stopped", paused: "Waiting",
};
const caps = {
  wall: "time", cpu: "CPU time", memory: "memory", stack: "stack", output: "output", logs: "log entries", apiCalls: "API calls",
};

// ending returns the state of a run that has ended. Blocked code never ran, and a cached result took its time in an earlier run.
function ending(result, word) {
  if (result.status === "blocked" || result.status === "paused") return word;
  return result.cached ? `${word}, the result of an earlier run` : `${word} in ${duration(result.usage.wallMs)}`;
}

// finish shows a result.
export function finish(result, allowed, go) {
  const ran = result.status !== "blocked";
  if (printed === 0) for (const { level, message } of result.logs ?? []) print(level, message);
  if (printed === 0) at("output").append(el("p", { class: "hint" }, ran ? "Nothing was printed." : "Nothing ran."));
  const word = said[result.status] ?? result.status;
  state(result.status, ending(result, word));
  if (result.status === "paused") {
    at("output").append(waiting());
  } else if (result.status !== "completed") {
    const cap = result.limit ? `: ${caps[result.limit] ?? result.limit} used up` : "";
    fail(word + cap, result.error ?? "", { exception: result.exception, go });
  } else {
    at("result").textContent = cut(visibleJSON(result.result));
    at("value").hidden = false;
  }
  if (ran) meters(result, allowed);
  at("record").href = `/dashboard/execution/${encodeURIComponent(result.id)}`;
  at("record").title = result.id;
  at("record").hidden = !visitor.may("audit:read");
}

function meters(result, allowed) {
  const used = { ...result.usage, logEntries: result.logs?.length ?? 0 };
  const plain = (n) => String(n);
  const rows = [
    ["Time", "wallMs", duration], ["CPU time", "cpuMs", duration], ["Memory", "memoryBytes", bytes],
    ["Output", "outputBytes", bytes], ["Log entries", "logEntries", plain], ["API calls", "apiCalls", plain],
  ];
  at("meters").replaceChildren(...rows.map(([name, key, write]) => {
    const most = allowed[key];
    const share = most ? Math.min(used[key] / most, 1) : 0;
    const bar = el("span", { class: "pg-bar-used", data: { near: String(share >= 0.9) } });
    bar.style.inlineSize = `${(share * 100).toFixed(1)}%`;
    const text = most ? `${write(used[key])} of ${write(most)}` : write(used[key]);
    return el("div", { class: "pg-meter" },
      el("dt", {}, name),
      el("dd", {}, el("span", {}, text), el("span", { class: "pg-bar-whole", "aria-hidden": "true" }, bar)));
  }));
  at("usage").hidden = false;
}

function cut(text) {
  return text.length > longest ? `${text.slice(0, longest)}\n… ${text.length - longest} more characters` : text;
}
