// Runs before anything is painted: the theme that was chosen here, if any.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be refused; the system's theme is used.
}
