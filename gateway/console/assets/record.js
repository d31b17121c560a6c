// The parts of a record, each in its element. All of it may come from the author of the code.
import { badge, block, el, put, visibleJSON } from "/assets/dom.js";
import { bytes, day, clock, duration, exact } from "/assets/format.js";
import { waiting } from "/assets/ran.js";

function pairs(place, all) {
  put(place, all.filter(([, v]) => v !== undefined && v !== null && v !== "").map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

const stamp = (t) => `${day(t)} ${clock(t)}`;

export function facts(place, r) {
  pairs(place, [
    ["Received", el("time", { datetime: r.time }, stamp(r.time))], ["Tenant", r.caller.tenant], ["Subject", r.caller.subject], ["Address", r.caller.ip], ["Via", r.via],
    ["Function", r.function ? `${r.function.name} version ${r.function.version}` : ""], ["Policy", r.policy], ["Language", r.language], ["Engine", r.engine],
    ["Seed", r.seed], ["Result of", r.reused ? el("a", { href: `/dashboard/execution/${encodeURIComponent(r.reused)}` }, r.reused) : ""],
  ]);
}

const found = (r) => r.dangerAnalysis?.findings ?? [];

// codeOf shows the code with its lines numbered, those with findings marked.
export function codeOf(place, r) {
  if (!r.code) {
    put(place, el("p", { class: "pad hint" }, `The code is not kept (the gateway keeps code with AUDIT_CODE=keep). It has ${bytes(r.codeBytes)} and the SHA-256`), el("p", { class: "pad mono break" }, r.codeSha256));
    return;
  }
  const marked = new Map(found(r).filter((f) => !f.file).map((f) => [f.line, f.severity]));
  put(place, block("Code", el("ol", {}, r.code.split("\n").map((line, i) =>
    el("li", { data: marked.has(i + 1) ? { mark: marked.get(i + 1) } : {} }, el("code", {}, line || " ")))), "code"));
}

export function logs(place, kept) {
  if (kept === null) {
    put(place, el("p", { class: "pad hint" }, "Output is kept with the result, for a while, and not in the record. A replay prints it again."));
  } else if ((kept.logs ?? []).length === 0) {
    put(place, el("p", { class: "pad hint" }, "Nothing was printed."));
  } else {
    put(place, el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Logs" }, el("ol", { class: "logs" }, kept.logs.map((l) =>
      el("li", { data: { level: l.level } }, el("span", { class: "at" }, `${l.atMs.toFixed(1)} ms`), el("span", { class: "level" }, l.level), el("code", {}, l.message))))));
  }
}

// result shows how the execution ended. The record of a part that paused stays as it is; the kept result is that of the end.
export function result(place, kept, r) {
  const parts = [], status = kept?.status ?? r.status;
  if (kept?.error && !r.error) parts.push(el("p", { class: "pad" }, kept.error));
  if (kept?.exception) {
    const at = kept.exception.line ? ` at ${kept.exception.line}:${kept.exception.column}` : "";
    parts.push(el("p", { class: "pad" }, el("strong", {}, kept.exception.name), at), block("Stack", kept.exception.stack || kept.exception.message, "block"));
  }
  if (kept !== null && status === "completed") parts.push(block("Result", visibleJSON(kept.result), "block"));
  if (kept !== null && status === "paused") parts.push(waiting("pad"));
  if (kept === null && status === "paused") parts.push(el("p", { class: "pad" }, "This part paused. The parts after it have records of their own."));
  if (parts.length === 0) parts.push(el("p", { class: "pad hint" }, r.resultSha256 ? "The result is not kept any more; its SHA-256 is" : "There is none."));
  if (kept === null && r.resultSha256) parts.push(el("p", { class: "pad mono break" }, r.resultSha256));
  put(place, parts);
}

export function findings(place, r) {
  const all = found(r);
  put(place, all.length === 0 ? el("li", { class: "nothing" }, "The scan found nothing.") : all.map((f) => el("li", {},
    el("div", { class: "threat-head" }, badge(f.severity), el("strong", {}, f.category), el("span", { class: "threat-message" }, f.message)),
    el("div", { class: "excerpt" }, el("span", { class: "place" }, `${f.file ? `${f.file}:` : ""}${f.line}:${f.column}`), el("code", {}, f.excerpt)))));
}

// usage shows the used resources in relation to the granted ones.
export function usage(place, r) {
  const g = r.grants ?? {};
  const rows = [
    ["Time", r.usage.wallMs, g.timeoutMs, duration, "wall"], ["Processor", r.usage.cpuMs, g.cpuMs, duration, "cpu"], ["Memory", r.usage.memoryBytes, g.memoryBytes, bytes, "memory"],
    ["Output", r.outputBytes, g.outputBytes, bytes, "output"], ["API calls", r.usage.apiCalls, g.apiCalls, exact, "apiCalls"],
  ];
  put(place, el("dl", { class: "usage" }, rows.map(([name, used, granted, format, limit]) => {
    const ended = r.limit === limit;
    const share = granted > 0 ? Math.min(used / granted, 1) : 0;
    return el("div", { data: { ended: String(ended) } }, el("dt", {}, name),
      el("dd", {}, granted > 0 ? `${format(used)} of ${format(granted)}` : format(used), ended ? badge("error", "ended the run") : null),
      granted > 0 ? el("dd", { class: "meter" }, el("meter", { min: "0", max: "1", value: share.toFixed(4), high: "0.8", "aria-label": `${name}: ${Math.round(100 * share)} % of the limit` })) : null);
  }), el("div", {}, el("dt", {}, "In line"), el("dd", {}, duration(r.usage.queueMs)))));
}

const steps = {
  received: "The gateway has the request", decided: "The policy has decided", started: "A fresh sandbox runs the code", finished: "The run has ended", recorded: "The record is written",
};

export function custody(place, r) {
  const all = r.custody ?? [];
  put(place, all.map((s, i) => el("li", {}, el("span", { class: "step" }, s.step), el("span", { class: "at" }, `+${duration(s.atMs)}`),
    el("span", { class: "hint" }, steps[s.step] ?? "", i > 0 ? ` · ${duration(s.atMs - all[i - 1].atMs)} after the step before` : ""))));
}

export function decision(place, r) {
  const g = r.grants ?? {};
  const list = (v) => (Array.isArray(v) && v.length > 0 ? v.join(", ") : "none");
  put(place, el("dl", { class: "pairs" }, [["Network", g.network ?? "none"], ["Hosts", list(g.hosts)], ["Files", g.files ?? "none"], ["eval", g.eval ? "allowed" : "no"], ["Modules", list(g.modules)], ["Tools", list(g.tools)]].map(([n, v]) =>
    el("div", {}, el("dt", {}, n), el("dd", {}, v)))),
  (r.reasons ?? []).length > 0 ? el("details", {}, el("summary", {}, `Reasons (${r.reasons.length})`), el("ul", { class: "reasons" }, r.reasons.map((line) => el("li", {}, line)))) : null);
}

export function chain(place, c) {
  const hash = (v) => el("code", { class: "break" }, v);
  pairs(place, [["Writer", hash(c.writer)], ["Number", exact(c.seq)], ["Hash", hash(c.hash)], ["Before it", c.prev ? hash(c.prev) : "none, it is the first"], ["Signed", c.mac ? "with the chain key" : "no chain key is set"]]);
}
