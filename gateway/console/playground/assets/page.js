// Elements that the page has.

export const at = (id) => document.getElementById(id);

// say puts text into a status; the same text twice is read out once.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
