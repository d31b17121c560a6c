// What builds the pages. Text is only ever put in as text: nothing here, and nothing that uses it, can make markup of it.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
  return node;
}

// el makes an element; children are nodes or texts.
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// svg makes an element of a drawing.
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// put replaces what a place has. A place that would look the same is left alone, so that focus and selection stay.
export function put(place, ...children) {
  const next = document.createElement(place.tagName);
  next.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
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

// badge shows a status or a severity; its colour never says anything that its text does not.
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

// save has the browser keep a file.
export function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
