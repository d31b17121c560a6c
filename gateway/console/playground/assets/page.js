// Elements that the page has.

import { visible } from "/assets/dom.js";

export const at = (id) => document.getElementById(id);

// say puts text into a status; the same text twice is read out once.
export function say(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}
