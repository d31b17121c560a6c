// Completion from TypeScript declarations such as the gateway's: globals by name, and the members of objects after a
// dot. Modules are completed by name in imports, and their imported names like objects.

import { ifNotIn } from "@codemirror/autocomplete";

const module = /^declare module "([^"]+)" \{\n([\s\S]*?)^\}$/gm;
const exported = /^  export (const|function) ([A-Za-z_$][\w$]*)([^\n]*);$|^  const \$\d+: any; export \{ \$\d+ as ([\w$]+) \};$/gm;
const whole = /^  const \$default: (\{[\s\S]*?^  \});$/m;
const imported = /\bimport\s+(?:([A-Za-z_$][\w$]*)\s*,?\s*)?(?:\*\s*as\s+([A-Za-z_$][\w$]*)\s*|\{[^}]*\}\s*)?from\s*["']([^"']+)["']|\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*(?:(await\s+import)|require)\s*\(\s*["']([^"']+)["']\s*\)/g;
const statement = /\/\*(\*?)([\s\S]*?)\*\/|^declare (const|let|var|function|class|namespace) ([A-Za-z_$][\w$]*)/gm;
const member = /^(?:readonly )?([A-Za-z_$][\w$]*)\??(?=[(<:])([\s\S]*)$/;
const mapped = /^\[\w+ in ([^\]]*)\]([\s\S]*)$/;
const kinds = { function: "function", class: "class", namespace: "namespace" };

// pass returns the end of the string or comment that begins at i, or i if there is none.
function pass(text, i) {
  if (text.startsWith("/*", i)) return Math.max(text.indexOf("*/", i + 2) + 2, i + 2);
  if (text[i] !== '"') return i;
  for (let end = i + 1; end < text.length; end++) {
    if (text[end] === "\\") end++;
    else if (text[end] === '"') return end + 1;
  }
  return text.length;
}

// parts splits declarations at each semicolon that is in no bracket, string or comment, or at the first of them.
function parts(text, first = false) {
  const found = [];
  let depth = 0, start = 0;
  for (let i = 0; i < text.length; i++) {
    const end = pass(text, i);
    if (end > i) i = end - 1;
    else if ("({[".includes(text[i])) depth++;
    else if (")}]".includes(text[i])) depth--;
    else if (text[i] === ";" && depth === 0) {
      found.push(text.slice(start, i));
      start = i + 1;
      if (first) break;
    }
  }
  return [...found, text.slice(start)];
}

const words = (comment) => comment.replace(/^\s*\* ?/gm, "").trim() || undefined;
const short = (type) => { const text = type.replace(/^: /, "").replace(/\s+/g, " "); return text.length > 60 ? text.slice(0, 59) + "…" : text; };

function members(type) {
  const object = /^\s*:\s*\{([\s\S]*)\}\s*$/.exec(type);
  return (object ? parts(object[1]) : []).flatMap((part) => {
    const [, comment, text] = /^\s*(?:\/\*\*([\s\S]*?)\*\/)?\s*([\s\S]*?)\s*$/.exec(part);
    const keys = mapped.exec(text), one = member.exec(text);
    if (keys) return [...keys[1].matchAll(/"([A-Za-z_$][\w$]*)"/g)].map(([, label]) => ({ label, type: "method", detail: short(keys[2]) }));
    return one ? [{ label: one[1], type: one[2].startsWith(":") ? "property" : "method", detail: short(one[2]), info: comment && words(comment) }] : [];
  });
}

function parse(text) {
  const globals = [];
  let info;
  for (const found of text.matchAll(statement)) {
    const [whole, doc, comment, kind, label] = found;
    if (!kind) { info = doc ? words(comment) : undefined; continue; }
    const type = parts(text.slice(found.index + whole.length), true)[0];
    globals.push({ label, type: kinds[kind] ?? "variable", info, members: kinds[kind] ? [] : members(type) });
    info = undefined;
  }
  return globals;
}

// modules returns the exports of the modules that text declares, and the members of their default exports, by name.
function modules(text) {
  const found = new Map();
  for (const [, name, body] of text.matchAll(module)) {
    const named = [...body.matchAll(exported)].map(([, kind, label, type, renamed]) => ({ label: label ?? renamed, type: kind === "function" ? "method" : "property", detail: short(type ?? ": any") }));
    const one = whole.exec(body);
    found.set(name, { named, default: one ? members(`: ${one[1]}`) : [] });
  }
  return found;
}

// bound returns the members of an imported name; the last import of the name comes first.
function bound(code, name, known) {
  let found;
  for (const [, one, all, from, required, dynamic, path] of code.matchAll(imported)) {
    const of = known.get(from ?? path);
    if (!of) continue;
    const named = of.named.length ? of.named : of.default;
    if (one === name || (required === name && !dynamic && of.default.length)) found = of.default.length ? of.default : named;
    else if (all === name || required === name) found = [...of.named, { label: "default", type: "property" }];
  }
  return found;
}

// inImport completes the name of a module, and the names between the braces of an import.
function inImport(context, known) {
  const path = context.matchBefore(/(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'][^"'\n]*/);
  if (path) return { from: path.from + path.text.search(/["']/) + 1, options: [...known.keys()].map((label) => ({ label, type: "namespace" })), validFor: /^[\w@/.-]*$/ };
  const open = context.matchBefore(/\bimport\b[^;{}]*\{[^{}]*/);
  const of = open && known.get(/^[^{}]*\}\s*from\s*["']([^"']+)["']/.exec(context.state.sliceDoc(context.pos, context.pos + 2000))?.[1]);
  const word = of && context.matchBefore(/[\w$]*/);
  return of ? { from: word.from, options: of.named, validFor: /^[\w$]*$/ } : null;
}

// declared returns a completion source for declarations.
export function declared(text) {
  const known = modules(text);
  const globals = parse(text.replace(module, ""));
  const owners = new Map(globals.map((g) => [g.label, g.members]));
  const names = globals.map(({ members: _, ...option }) => option);
  const plain = ifNotIn(["String", "LineComment", "BlockComment", "PropertyName", "TemplateString", "."], (context) => {
    const word = context.matchBefore(/[\w$]+/);
    return word || context.explicit ? { from: word ? word.from : context.pos, options: names, validFor: /^[\w$]*$/ } : null;
  });
  return (context) => {
    const inside = known.size > 0 && inImport(context, known);
    if (inside) return inside;
    const dotted = context.matchBefore(/[A-Za-z_$][\w$]*\.[\w$]*/);
    if (!dotted) return plain(context);
    const [owner, typed] = dotted.text.split(".");
    const options = bound(context.state.doc.toString(), owner, known) ?? owners.get(owner);
    return options?.length ? { from: context.pos - typed.length, options, validFor: /^[\w$]*$/ } : null;
  };
}
