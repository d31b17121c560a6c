// Elements of the page, and how to make one. Whatever a guest wrote becomes text, never markup.

export const at = (id) => document.getElementById(id);

// make gives an element with properties, data-* attributes and children, which are elements or text.
export function make(tag, { data = {}, ...properties } = {}, ...children) {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  Object.assign(element.dataset, data);
  element.append(...children);
  return element;
}

// say puts text into a status; the same text twice is read out once.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const sizes = ["B", "KiB", "MiB", "GiB"];

export function bytes(n) {
  let unit = 0;
  while (n >= 1024 && unit < sizes.length - 1) { n /= 1024; unit++; }
  return `${unit === 0 ? n : trimmed(n)} ${sizes[unit]}`;
}

export function milliseconds(ms) {
  return ms >= 1000 ? `${trimmed(ms / 1000)} s` : `${trimmed(ms)} ms`;
}

const trimmed = (n) => String(Math.round(n * 10) / 10);
