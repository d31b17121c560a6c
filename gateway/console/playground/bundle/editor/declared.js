// Completion out of declarations as the gateway writes them: `declare const NAME: { … };` with one member a line.

import { ifNotIn } from "@codemirror/autocomplete";

const member = /^  (?:readonly )?([A-Za-z_$][\w$]*)\??(\(.*|: .*)$/;
const global = /^declare (?:const|let|var|function|class|namespace) ([A-Za-z_$][\w$]*)(.*)$/;

// parse gives the globals of declarations, each {label, detail, info, members}.
function parse(text) {
  const globals = [];
  let comment = "", owner = null;
  for (const line of text.split("\n")) {
    const said = line.trim();
    if (said.startsWith("/**") || said.startsWith("*")) {
      const words = said.replace(/^\/?\*+\/?/, "").replace(/\*\/$/, "").trim();
      comment = said.startsWith("/**") ? words : (comment + "\n" + words).trim();
      continue;
    }
    const declares = global.exec(line), has = owner && member.exec(line);
    if (declares) {
      owner = { label: declares[1], type: "variable", info: comment || undefined, members: [] };
      globals.push(owner);
    } else if (has) {
      const callable = has[2].startsWith("(");
      owner.members.push({ label: has[1], type: callable ? "method" : "property", info: comment || undefined, detail: short(has[2]) });
    }
    comment = "";
  }
  return globals;
}

function short(signature) {
  const text = signature.replace(/^: /, "").replace(/;$/, "");
  return text.length > 60 ? text.slice(0, 59) + "…" : text;
}

// declared gives a completion source: globals by name, and what they have after their dot.
export function declared(text) {
  const globals = parse(text);
  const members = new Map(globals.map((g) => [g.label, g.members]));
  const names = globals.map(({ members: _, ...option }) => option);
  const plain = ifNotIn(["String", "Comment", "LineComment", "BlockComment", "PropertyName", "TemplateString", "."], (context) => {
    const word = context.matchBefore(/[\w$]+/);
    return word || context.explicit ? { from: word ? word.from : context.pos, options: names, validFor: /^[\w$]*$/ } : null;
  });
  return (context) => {
    const dotted = context.matchBefore(/[A-Za-z_$][\w$]*\.[\w$]*/);
    if (!dotted) return plain(context);
    const [owner, typed] = dotted.text.split(".");
    const options = members.get(owner);
    return options?.length ? { from: context.pos - typed.length, options, validFor: /^[\w$]*$/ } : null;
  };
}
