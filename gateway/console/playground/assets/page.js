// Elements that the page has.

import { visible } from "/assets/dom.js";

export const at = (id) => document.getElementById(id);

// say puts text into a status element; screen readers read the same text only once.
export function say(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}
