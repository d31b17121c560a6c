// What a person answers to an operation: JSON that fits its schema.
import { block, el, visibleJSON } from "/assets/dom.js";

// gap stands for a value that the person must write. It is no JSON, so that nobody sends it by mistake.
const gap = "…";

// required returns an object with the members that a schema requires, each its default or a gap, or undefined if it
// requires none.
function required(schema) {
  const names = Array.isArray(schema?.required) ? schema.required : [];
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, schema.properties?.[name]?.default ?? required(schema.properties?.[name]) ?? gap]));
}

// outline returns the text that a person completes to the JSON of an answer, or "" if the schema requires no members.
export function outline(schema) {
  const value = required(schema);
  return value === undefined ? "" : visibleJSON(value).replaceAll(JSON.stringify(gap), gap);
}

// shown returns the schema that an answer must fit.
export function shown(schema) {
  return el("details", {}, el("summary", {}, "What fits"), block("Schema of the answer", visibleJSON(schema)));
}
