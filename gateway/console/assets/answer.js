// What a person answers to an operation: JSON that fits its schema.
import { el, visibleJSON } from "/assets/dom.js";

// blank returns an object with the members that a schema names, each null, or undefined if it describes no object.
function blank(schema) {
  const members = schema?.properties;
  if (members === null || typeof members !== "object") return undefined;
  return Object.fromEntries(Object.entries(members).map(([name, s]) => [name, s?.default ?? blank(s) ?? null]));
}

// outline returns the JSON that a person completes, or "" if the schema describes no object. It never fits as it is,
// unless the schema has defaults for everything, so that nobody sends it by mistake.
export function outline(schema) {
  const value = blank(schema);
  return value === undefined ? "" : visibleJSON(value);
}

// shown returns the schema that an answer must fit.
export function shown(schema) {
  return el("details", {}, el("summary", {}, "What fits"), el("pre", { tabindex: 0 }, visibleJSON(schema)));
}
