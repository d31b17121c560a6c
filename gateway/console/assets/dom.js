// dom.js builds the pages. Text is inserted as text and never becomes markup.

const SVG = "http://www.w3.org/2000/svg";

// Control, format and invisible characters can reorder or hide text. Variation selectors, as emoji use them, stay.
const unprintable = /(?![\n\t\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

// visible returns text with its unprintable characters written as \u{…}.
export function visible(text) {
  return String(text).replaceAll("\r\n", "\n").replace(unprintable, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

// visibleJSON returns a value as indented JSON in which unprintable characters are escaped as JSON has it.
export function visibleJSON(value) {
  return (JSON.stringify(value, null, 2) ?? "null").replace(unprintable,
    (c) => c.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""));
}

// contents returns the children for an element: nodes, and texts made visible.
function contents(children) {
  return children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false)
    .map((c) => (c instanceof Node ? c : visible(c)));
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "title" || name === "aria-label") node.setAttribute(name, visible(value));
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...contents(children));
  return node;
}

// el makes an element; children are nodes or texts.
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// block makes a text that scrolls, which the keyboard reaches and screen readers name by its label.
export function block(label, text, kind) {
  return el("pre", { class: kind, tabindex: 0, role: "group", "aria-label": label }, text);
}

// svg makes an element of a drawing.
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// put replaces the content of an element. It leaves an element alone that would look the same, so that focus and
// selection stay.
export function put(place, ...children) {
  const next = document.createElement(place.tagName);
  next.append(...contents(children));
  if (next.innerHTML === place.innerHTML) return;
  const focused = place.contains(document.activeElement) ? keyOf(document.activeElement) : "";
  place.replaceChildren(...next.childNodes);
  if (focused) [...place.querySelectorAll("a, button, [tabindex]")].find((n) => keyOf(n) === focused)?.focus({ preventScroll: true });
}

function keyOf(node) {
  return node.getAttribute("href") ?? node.id ?? node.textContent;
}

export function byId(id) {
  return document.getElementById(id);
}

// badge shows a status or a severity; its colour adds nothing to its text.
export function badge(kind, text = kind) {
  return el("span", { class: "badge", data: { kind } }, text);
}

// copyButton copies a text.
export function copyButton(text, label) {
  const button = el("button", { type: "button", class: "small" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed to copy";
    }
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}

// save downloads a file to the visitor's machine.
export function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
