// The playground: connects the editor, the fields around it, the runs and their output.

import { block, el } from "/assets/dom.js";
import { visitor } from "/assets/frame.js";
import { call } from "./api.js";
import { forms } from "./copy.js";
import { at, say } from "./page.js";
import { watch } from "./findings.js";
import * as output from "./output.js";
import * as plain from "./plain.js";
import { allowed, fill, offer, read, show, Wrong } from "./request.js";
import { run, running, stop } from "./run.js";
import { save } from "./save.js";
import { decode, encode } from "./share.js";
import { tabs } from "./tabs.js";

const welcome = {
  code: `// This runs in a sandbox made for it alone. Ctrl+Enter (or ⌘ Enter) runs it.
const fibonacci = (n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));

for (const n of [5, 10, 15]) {
  console.log("fibonacci", n, "=", fibonacci(n));
}

({ answer: fibonacci(20), input });
`,
  policy: "standard",
};
const kept = "playground";

const mac = navigator.platform.startsWith("Mac");
at("key").textContent = mac ? "⌘ ↵" : "Ctrl ↵";
const pick = tabs(document.querySelector("[role=tablist]"));

// The bundled editor, unless there is none or the visitor wants the text area.
const bundled = at("playground").dataset.bundled === "true" && new URLSearchParams(location.search).get("editor") !== "plain";
let rich = null;
if (bundled) {
  try {
    rich = await import("/assets/editor/editor.js");
  } catch (error) {
    say(at("note"), `The editor did not load (${error.message}). Use the plain text field.`);
  }
}
at("keys").textContent = rich ? "Escape, then Tab, leaves the editor" : "";

let tiers = [], found = [], thrown = [];
let declarations = "";
const tier = () => tiers.find((t) => t.name === at("policy").value);
const editor = (rich ?? plain).create({ parent: at("editor"), label: "Code", value: "", language: "javascript", onChange: changed, onRun: execute });
const go = (line, column) => editor.go(line, column);
const check = watch({
  request: () => ({ code: editor.value, language: at("language").value, policy: at("policy").value }),
  found(diagnostics) { found = diagnostics; mark(); },
  go,
});

function mark() {
  editor.mark([...found, ...thrown]);
}

// changed updates the page after every change of the code or of a field.
function changed() {
  if (thrown.length > 0) { thrown = []; mark(); }
  check();
  keep();
}

let keeping = 0;
// keep stores the code and the fields of this tab, for a reload or a login.
function keep() {
  clearTimeout(keeping);
  keeping = setTimeout(() => {
    try {
      sessionStorage.setItem(kept, JSON.stringify(read(editor.value)));
    } catch {
      // It does not fit, storage is refused, or the input is no JSON yet.
    }
  }, 300);
}

function load(request) {
  const code = fill(request);
  editor.language = at("language").value;
  editor.value = code;
  show(tier());
  judgeInput();
}

// request returns the request that the fields describe, and shows an error beside an invalid field.
function request() {
  try {
    return read(editor.value);
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    say(at("note"), error.message);
    pick(error.field === "input" ? "tab-input" : "tab-limits");
    at(error.field).focus();
    return null;
  }
}

async function execute() {
  if (running()) return;
  const asked = request();
  if (!asked) return;
  say(at("note"), "");
  const result = await run(asked, allowed(asked, tier()), go);
  thrown = result?.exception?.line > 0 && !result.exception.file && editor.value === asked.code
    ? [{ line: result.exception.line, column: result.exception.column || 1, severity: "error", message: result.error }] : [];
  mark();
}

function judgeInput() {
  const text = at("input").value.trim();
  let wrong = "";
  try {
    if (text) JSON.parse(text);
  } catch (error) {
    wrong = `Not JSON yet: ${error.message}`;
  }
  say(at("input-wrong"), wrong);
  at("input").setAttribute("aria-invalid", String(wrong !== ""));
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // refused, or the page was not loaded over https: the text is shown, and can be selected
  }
}

async function share() {
  const asked = request();
  if (!asked) return;
  history.replaceState(null, "", await encode(asked));
  say(at("note"), await copyText(location.href) ? "The link was copied. Only who has it sees the code: it goes to no server." : "The link is in the address bar. Only who has it sees the code: it goes to no server.");
}

function copying() {
  const asked = request();
  if (!asked) return;
  const { write, note } = forms[document.querySelector("input[name=kind]:checked").value];
  at("copied").textContent = write(asked);
  say(at("copying-note"), note);
  if (!at("copying").open) at("copying").showModal();
}

function saving() {
  if (!request()) return;
  say(at("saving-note"), "");
  try {
    at("function-name").value ||= sessionStorage.getItem("playground-function") ?? "";
  } catch {
    // Storage is refused.
  }
  at("saving").showModal();
}

async function saveFunction(event) {
  event.preventDefault();
  const asked = request();
  if (!asked) return at("saving").close();
  const name = at("function-name").value;
  at("saving-save").disabled = true;
  try {
    const version = await save(name, asked);
    at("saving-note").replaceChildren(`Saved as version ${version} of `, el("a", { href: `/functions/${encodeURIComponent(name)}` }, name), ".");
  } catch (error) {
    say(at("saving-note"), `Not saved: ${error.message}`);
  }
  at("saving-save").disabled = false;
  return undefined;
}

async function pickExample() {
  const chosen = at("example").selectedOptions[0];
  if (!chosen.value) return;
  const path = `/assets/examples/${encodeURIComponent(chosen.value)}`;
  try {
    const code = await (await call(`${path}.js`)).text();
    const input = "input" in chosen.dataset ? await (await call(`${path}.json`)).json() : undefined;
    load({ code, policy: chosen.dataset.tier, input });
    say(at("note"), chosen.title);
  } catch (error) {
    say(at("note"), `The example did not load: ${error.message}`);
  }
}

async function loadFragment() {
  try {
    const shared = await decode(location.hash);
    if (!shared) return false;
    load(shared);
    say(at("note"), "Loaded from a link. Look at it before you run it.");
    return true;
  } catch (error) {
    say(at("note"), error.message);
    return false;
  }
}

function draft() {
  try {
    return JSON.parse(sessionStorage.getItem(kept));
  } catch {
    return null;
  }
}

// complete makes the editor complete the names that code of the chosen policy can call and import.
async function complete() {
  const policy = at("policy").value;
  const imports = await (await call(`/api/packages.d.ts?policy=${encodeURIComponent(policy)}`)).text();
  if (policy === at("policy").value) editor.types = declarations + imports;
}

async function learn() {
  try {
    tiers = (await (await call("/api/policies")).json()).items;
    offer(tiers);
    show(tier());
  } catch (error) {
    say(at("note"), `The policies could not be read: ${error.message}`);
  }
  try {
    const text = await (await call("/api/tools.d.ts")).text();
    declarations = text;
    await complete();
    const place = el("div", { class: "pg-types" });
    at("declarations").replaceChildren(place);
    if (rich) rich.viewer({ parent: place, label: "Declarations", text });
    else place.append(block("Declarations", text));
  } catch (error) {
    at("declarations").replaceChildren(el("p", { class: "hint" }, `The declarations could not be read: ${error.message}`));
  }
}

at("run").addEventListener("click", execute);
at("stop").addEventListener("click", stop);
at("share").addEventListener("click", share);
at("copy").addEventListener("click", copying);
at("save").addEventListener("click", saving);
at("save").hidden = !visitor.may("functions");
at("saving-close").addEventListener("click", () => at("saving").close());
at("saving-form").addEventListener("submit", saveFunction);
at("copying-close").addEventListener("click", () => at("copying").close());
at("copying-copy").addEventListener("click", async () => {
  say(at("copying-note"), await copyText(at("copied").textContent) ? "Copied." : "The browser does not let a page copy here; select the text.");
});
for (const kind of document.querySelectorAll("input[name=kind]")) kind.addEventListener("change", copying);
at("example").addEventListener("change", pickExample);
at("language").addEventListener("change", () => { editor.language = at("language").value; changed(); });
at("policy").addEventListener("change", () => { show(tier()); changed(); complete().catch(() => {}); });
at("input").addEventListener("input", () => { judgeInput(); keep(); });
for (const field of document.querySelectorAll("[data-of]")) field.addEventListener("input", keep);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.defaultPrevented && !at("copying").open && !at("saving").open) execute();
});
addEventListener("hashchange", loadFragment);

output.state("idle", "Not run yet");
if (!visitor.may("execute")) say(at("note"), "You are not allowed to run code here: your credential lacks the scope execute.");
if (!await loadFragment()) load(draft() ?? welcome);
await learn();
document.body.dataset.ready = "true";
