// A chart: a figure with a title, a drawing, a legend that also shows the values under the cursor, the values as a
// table, and a button that saves the drawing. plots.js makes the drawings.
import { el, put, save, svg } from "/assets/dom.js";

// Chart fills a <figure data-title="…" data-hint="…"> once, and redraws whenever it gets new data.
export class Chart {
  #figure; #plot; #legend; #readout; #table; #drawing; #width = 0; #shown = -1;

  constructor(figure) {
    this.#figure = figure;
    const title = el("h2", {}, figure.dataset.title);
    this.#readout = el("p", { class: "readout", "aria-live": "polite" });
    this.#plot = el("div", { class: "plot" }, el("p", { class: "nothing" }, "Loading …"));
    figure.dataset.empty = "true";
    this.#legend = el("ul", { class: "legend" });
    this.#table = el("table");
    const data = el("details", { class: "data" }, el("summary", {}, "Data"),
      el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `${figure.dataset.title}: data` }, this.#table));
    const keep = el("button", { type: "button", class: "quiet small", "aria-label": `Save ${figure.dataset.title} as SVG`, on: { click: () => this.#save() } }, "Save");
    figure.append(
      el("figcaption", {}, el("div", {}, title, figure.dataset.hint ? el("p", { class: "hint" }, figure.dataset.hint) : null), keep),
      this.#plot, this.#readout, this.#legend, data);
    new ResizeObserver(() => {
      if (this.#drawing && Math.abs(this.#plot.clientWidth - this.#width) > 1) this.#paint();
    }).observe(this.#plot);
  }

  // draw shows a drawing of plots.js: {empty, labels, series: [{name, kind, values, total}], format, paint(width)}.
  draw(drawing) {
    this.#drawing = drawing;
    this.#paint();
  }

  #paint() {
    const d = this.#drawing;
    this.#width = this.#plot.clientWidth;
    this.#figure.dataset.empty = String(d.empty);
    const focused = this.#plot.contains(document.activeElement);
    if (d.empty) {
      this.#plot.replaceChildren(el("p", { class: "nothing" }, d.nothing ?? "Nothing in this time."));
      put(this.#legend);
      put(this.#readout);
      put(this.#table);
      return;
    }
    const name = `${this.#figure.dataset.title}. ${d.series.map((s) => `${s.name} ${d.format(s.total)}`).join(", ")}.`;
    const drawing = svg("svg", { class: "drawing", role: "img", "aria-label": name, width: this.#width, height: d.height, viewBox: `0 0 ${this.#width} ${d.height}` });
    const at = d.paint(drawing, this.#width);
    if (at) this.#follow(drawing, at);
    this.#plot.replaceChildren(drawing);
    if (focused) drawing.focus({ preventScroll: true });
    this.#tell(this.#shown < d.labels.length ? this.#shown : -1);
    put(this.#table,
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, d.of ?? "Time"), d.series.map((s) => el("th", { scope: "col" }, s.name)))),
      el("tbody", {}, d.labels.map((label, i) => el("tr", {}, el("th", { scope: "row" }, label), d.series.map((s) => el("td", {}, d.format(s.values[i])))))));
  }

  // #follow makes the legend show the values under the pointer, or at the point that the arrow keys select.
  #follow(drawing, { left, step, top, bottom }) {
    const last = this.#drawing.labels.length - 1;
    const cursor = svg("line", { class: "cursor", y1: top, y2: bottom, visibility: "hidden" });
    drawing.append(cursor);
    const go = (i) => {
      this.#tell(i);
      const x = left + (i + 0.5) * step;
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      cursor.setAttribute("visibility", i < 0 ? "hidden" : "visible");
    };
    drawing.setAttribute("tabindex", "0");
    drawing.addEventListener("pointermove", (e) => {
      const i = Math.floor((e.clientX - drawing.getBoundingClientRect().left - left) / step);
      go(Math.max(0, Math.min(last, i)));
    });
    drawing.addEventListener("pointerleave", () => go(-1));
    drawing.addEventListener("blur", () => go(-1));
    drawing.addEventListener("keydown", (e) => {
      const to = { ArrowLeft: Math.max(0, (this.#shown < 0 ? last + 1 : this.#shown) - 1), ArrowRight: Math.min(last, this.#shown + 1), Home: 0, End: last, Escape: -1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      go(to);
    });
    if (this.#shown >= 0 && this.#shown <= last) go(this.#shown);
  }

  #tell(i) {
    this.#shown = i;
    const d = this.#drawing;
    put(this.#readout, i < 0 ? d.summary ?? "" : d.labels[i]);
    if (d.plain) return put(this.#legend);
    put(this.#legend, d.series.map((s) => el("li", { data: { kind: s.kind } }, el("span", { class: "key" }), el("span", { class: "name" }, s.name),
      el("span", { class: "value" }, d.format(i < 0 ? s.total : s.values[i])))));
  }

  // #save saves the drawing with its colours and its title, so that the file is complete in itself.
  #save() {
    const drawn = this.#plot.querySelector("svg");
    if (!drawn) return;
    const copy = drawn.cloneNode(true);
    const from = drawn.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((node, i) => {
      const style = getComputedStyle(from[i]);
      for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "opacity", "text-anchor"]) {
        node.setAttribute(name, style.getPropertyValue(name));
      }
      node.removeAttribute("class");
    });
    copy.querySelectorAll('[visibility="hidden"]').forEach((n) => n.remove());
    const look = getComputedStyle(this.#figure);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.prepend(svg("title", {}, this.#figure.dataset.title), svg("rect", { width: "100%", height: "100%", fill: look.backgroundColor }));
    for (const name of ["class", "tabindex", "data-kind"]) copy.removeAttribute(name);
    const file = `airlock-${this.#figure.dataset.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.svg`;
    save(file, "image/svg+xml", new XMLSerializer().serializeToString(copy));
  }
}
