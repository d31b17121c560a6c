// The page /docs: Swagger UI over the gateway's own description. Requests go to this origin alone, with the visitor's session if there is
// one, or with the token or key of the Authorize dialog.

import SwaggerUI from "/assets/viewer/viewer.js";
import { requestToken } from "/assets/session.js";

const viewer = document.getElementById("viewer");

// The viewer has a dark theme that is a class of the document; the console has one that is an attribute.
const dark = matchMedia("(prefers-color-scheme: dark)");
function paint() {
  const { theme } = document.documentElement.dataset;
  document.documentElement.classList.toggle("dark-mode", theme === "dark" || theme !== "light" && dark.matches);
}
dark.addEventListener("change", paint);
new MutationObserver(paint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
paint();

// React writes the markup of descriptions, which DOMPurify has cleaned, as text. The page's policy requires a
// declaration for this. Scripts and their addresses stay refused.
globalThis.trustedTypes?.createPolicy("default", { createHTML: (markup) => markup });

function withSession(request) {
  const token = requestToken(), named = Object.keys(request.headers ?? {}).map((name) => name.toLowerCase());
  if (token !== null && !named.includes("authorization") && !named.includes("x-api-key")) {
    request.headers["X-Airlock-Request-Token"] = token;
  }
  return request;
}

// accessible returns a plugin of the viewer. The page has a main landmark of its own, so that of the viewer becomes a plain
// element. The button of each operation loses the link inside it. mend labels its fields, closes the gap in its levels of
// headings, and makes scrolling areas reachable with the keyboard.
function accessible() {
  return {
    wrapComponents: {
      VersionPragmaFilter: (Original, { React }) => ({ children, ...props }) => React.createElement(Original, props,
        React.Children.map(children, (child) => (child?.type === "main" ? React.createElement("div", child.props) : child))),
      DeepLink: (Original, { React }) => ({ text }) => React.createElement("span", null, text),
    },
  };
}
// headingOf returns the heading beside a text or beside an element around it.
function headingOf(block) {
  return block.closest("div:has(> :is(h4, h5))")?.querySelector(":scope > :is(h4, h5)").textContent;
}
function mend() {
  for (const field of viewer.querySelectorAll("select:not([aria-label]), textarea:not([aria-label])")) {
    const what = field.classList.contains("examples-select-element") ? "Example" : field.tagName === "SELECT" ? "Media type" : "Request body";
    field.setAttribute("aria-label", what);
  }
  for (const block of viewer.querySelectorAll("pre:not([tabindex], .version)")) {
    block.tabIndex = 0;
    block.setAttribute("role", "group");
    block.setAttribute("aria-label", block.closest(".model-example") ? "Example" : headingOf(block) ?? "Text");
  }
  for (const heading of viewer.querySelectorAll(":is(h3, h4, h5, h6):not([aria-level])")) heading.setAttribute("aria-level", heading.tagName[1] - 1);
}
new MutationObserver(mend).observe(viewer, { childList: true, subtree: true });

SwaggerUI({
  url: viewer.dataset.source, domNode: viewer, deepLinking: true, docExpansion: "list", defaultModelsExpandDepth: 0, filter: true,
  tryItOutEnabled: true, validatorUrl: null, requestInterceptor: withSession, plugins: [accessible],
  // Code samples are shown without colours: the highlighter writes inline styles, which the page's policy refuses.
  syntaxHighlight: { activated: false },
});
