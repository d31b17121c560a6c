// The editor without CodeMirror: the page's own text area, with line numbers that carry marks. It has the interface of
// the bundled editor.js.

import { el } from "/assets/dom.js";

export function create({ parent, label, value, onChange, onRun }) {
  const text = parent.querySelector("textarea");
  const numbers = el("div", { class: "pg-numbers", "aria-hidden": "true" });
  parent.classList.add("pg-plain");
  parent.prepend(numbers);
  text.ariaLabel = label;
  text.value = value;
  let marks = new Map();

  function number() {
    const lines = text.value.split("\n").length;
    while (numbers.childElementCount > lines) numbers.lastElementChild.remove();
    while (numbers.childElementCount < lines) numbers.append(el("span", {}, String(numbers.childElementCount + 1)));
    for (const [i, n] of [...numbers.children].entries()) {
      const mark = marks.get(i + 1);
      if (n.dataset.severity === mark?.severity && n.title === (mark?.message ?? "")) continue;
      if (mark) n.dataset.severity = mark.severity;
      else delete n.dataset.severity;
      n.title = mark?.message ?? "";
    }
    numbers.scrollTop = text.scrollTop;
  }

  text.addEventListener("input", () => { number(); onChange(); });
  text.addEventListener("scroll", () => { numbers.scrollTop = text.scrollTop; });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); onRun(); }
  });
  number();

  return {
    get value() { return text.value; },
    set value(replacement) { text.value = replacement; number(); onChange(); },
    set language(_) {},
    set types(_) {},
    mark(diagnostics) {
      marks = new Map();
      const rank = { error: 3, warning: 2, info: 1 };
      for (const d of diagnostics) {
        const before = marks.get(d.line);
        if (!before || rank[before.severity] < rank[d.severity]) marks.set(d.line, d);
      }
      number();
    },
    focus() { text.focus(); },
    go(line, column) {
      const lines = text.value.split("\n");
      const n = Math.min(Math.max(line, 1), lines.length) - 1;
      const start = lines.slice(0, n).reduce((sum, l) => sum + l.length + 1, 0);
      text.focus();
      text.setSelectionRange(start + Math.min(Math.max(column - 1, 0), lines[n].length), start + lines[n].length);
      const height = parseFloat(getComputedStyle(text).lineHeight);
      text.scrollTop = Math.max(0, n * height - text.clientHeight / 2);
    },
  };
}
