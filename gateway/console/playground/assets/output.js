// What a run prints, gives and uses.

import { at, bytes, make, milliseconds, say } from "./dom.js";

// What is shown of one value; the rest is in the record.
const longest = 200_000;
const levels = { log: "", info: "", debug: "debug", warn: "warning", error: "error" };

let printed = 0;

// clear makes room for a run.
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
  const word = levels[level] ?? "";
  const line = make("div", { className: "pg-line", data: { level } });
  if (word) line.append(make("span", { className: "pg-level", textContent: word }));
  line.append(make("span", { className: "pg-said", textContent: text.replace(/\n$/, "") }));
  log.append(line);
  printed++;
  if (follow) log.scrollTop = log.scrollHeight;
}

// state tells how the run is going: idle, running, or a result's status.
export function state(name, text) {
  at("state").dataset.state = name;
  say(at("state"), text);
}

// fail shows why there is no result. go leads to a place in the code.
export function fail(title, message, { exception, go } = {}) {
  const box = at("failure");
  box.replaceChildren(make("strong", { textContent: title }), make("p", { className: "pg-message", textContent: cut(message) }));
  if (exception?.line > 0 && !exception.file) {
    const place = make("button", { type: "button", textContent: `Go to line ${exception.line}` });
    place.addEventListener("click", () => go(exception.line, exception.column));
    box.append(place);
  }
  if (exception?.stack) {
    box.append(make("details", {}, make("summary", { textContent: "Stack" }), make("pre", { textContent: cut(exception.stack), tabIndex: 0 })));
  }
  box.hidden = false;
}

const said = {
  completed: "Completed", error: "Error", timeout: "Timed out", blocked: "Blocked", cancelled: "Stopped",
};
const caps = {
  wall: "time", cpu: "CPU time", memory: "memory", stack: "stack", output: "output", logs: "log entries", apiCalls: "API calls",
};

// finish shows a result.
export function finish(result, allowed, go) {
  if (printed === 0) for (const { level, message } of result.logs ?? []) print(level, message);
  if (printed === 0) at("output").append(make("p", { className: "hint", textContent: "Nothing was printed." }));
  const word = said[result.status] ?? result.status;
  state(result.status, `${word} in ${milliseconds(result.usage.wallMs)}`);
  if (result.status !== "completed") {
    const cap = result.limit ? `: ${caps[result.limit] ?? result.limit} used up` : "";
    fail(word + cap, result.error ?? "", { exception: result.exception, go });
  } else {
    at("result").textContent = cut(JSON.stringify(result.result, null, 2));
    at("value").hidden = false;
  }
  meters(result, allowed);
  at("record").href = `/dashboard/execution/${encodeURIComponent(result.id)}`;
  at("record").title = result.id;
  at("record").hidden = false;
}

function meters(result, allowed) {
  const used = { ...result.usage, logEntries: result.logs?.length ?? 0 };
  const plain = (n) => String(n);
  const rows = [
    ["Time", "wallMs", milliseconds], ["CPU time", "cpuMs", milliseconds], ["Memory", "memoryBytes", bytes],
    ["Output", "outputBytes", bytes], ["Log entries", "logEntries", plain], ["API calls", "apiCalls", plain],
  ];
  at("meters").replaceChildren(...rows.map(([name, key, write]) => {
    const most = allowed[key];
    const share = most ? Math.min(used[key] / most, 1) : 0;
    const bar = make("span", { className: "pg-bar-used", data: { near: String(share >= 0.9) } });
    bar.style.inlineSize = `${(share * 100).toFixed(1)}%`;
    const text = most ? `${write(used[key])} of ${write(most)}` : write(used[key]);
    return make("div", { className: "pg-meter" },
      make("dt", { textContent: name }),
      make("dd", {}, make("span", { textContent: text }), make("span", { className: "pg-bar-whole", ariaHidden: "true" }, bar)));
  }));
  at("usage").hidden = false;
}

function cut(text) {
  return text.length > longest ? `${text.slice(0, longest)}\n… ${text.length - longest} more characters` : text;
}
