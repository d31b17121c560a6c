// The header of every page: the theme, and whether the page is live.
import { forgetDrafts, keepDrafts } from "/assets/drafts.js";
import { forget } from "/assets/session.js";

document.querySelector('form[action="/logout"]')?.addEventListener("submit", () => {
  forget();
  forgetDrafts();
});

const themes = ["system", "light", "dark"];
const names = { system: "as the system", light: "light", dark: "dark" };

function chosen() {
  return document.documentElement.dataset.theme ?? "system";
}

function label(button) {
  button.setAttribute("aria-label", `Theme: ${names[chosen()]}`);
  button.title = `Theme: ${names[chosen()]}`;
}

const button = document.getElementById("theme");
if (button) {
  label(button);
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(chosen()) + 1) % themes.length];
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      if (next === "system") localStorage.removeItem("theme");
      else localStorage.setItem("theme", next);
    } catch {
      // It lasts until the page is left.
    }
    label(button);
    document.dispatchEvent(new CustomEvent("themechange"));
  });
}

// On a phone the links scroll sideways. The current one is scrolled into view.
const current = document.querySelector("nav [aria-current]");

function showCurrent() {
  const bar = current.closest("nav"), outer = bar.getBoundingClientRect(), inner = current.getBoundingClientRect();
  bar.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
}

if (current) {
  showCurrent();
  addEventListener("resize", showCurrent);
}

// showLive shows whether the page is updated: "live", "paused", "connecting", "offline", or "" for a page that never
// is.
export function showLive(state, text) {
  const place = document.getElementById("live");
  place.hidden = state === "";
  if (place.dataset.state === state && place.textContent === text) return;
  place.dataset.state = state;
  place.textContent = text;
}

// visitor is the caller of the page, as the gateway identifies them.
export const visitor = {
  subject: document.body.dataset.subject ?? "",
  tenant: document.body.dataset.tenant ?? "",
  open: document.body.dataset.open === "true",
  scopes: (document.body.dataset.scopes ?? "").split(" ").filter(Boolean),
  may(scope) {
    return this.scopes.includes(scope) || (scope === "audit:read" && this.scopes.includes("audit:read:all"));
  },
};

// logIn goes to the login page, which returns to the current page, with the text of its fields.
export function logIn() {
  keepDrafts();
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}
