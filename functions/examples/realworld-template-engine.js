// Mail from a template: values are escaped by default, sections repeat, and links may use only safe schemes.
// tier: strict

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (value) => String(value).replace(/[&<>"']/g, (c) => entities[c]);
const filters = {
  upper: (v) => String(v).toUpperCase(),
  money: (v) => (v / 100).toFixed(2),
  link: (v) => (/^https?:\/\//i.test(v) ? v : "#"),
};

const lookup = (scopes, path) => {
  for (const scope of scopes) {
    const [first, ...rest] = path.split(".");
    if (path === "." ) return scope;
    if (Object.hasOwn(Object(scope), first)) return rest.reduce((v, key) => (Object.hasOwn(Object(v), key) ? v[key] : ""), scope[first]);
  }
  return "";
};

function render(template, scopes) {
  return template
    .replace(/{{#([\w.]+)}}([^]*?){{\/\1}}/g, (_, path, inner) => {
      const value = lookup(scopes, path);
      return (Array.isArray(value) ? value : value ? [value] : []).map((v) => render(inner, [v, ...scopes])).join("");
    })
    .replace(/{{([\w.]+)((?:\|\w+)*)}}/g, (_, path, names) =>
      escape(names.split("|").filter(Boolean).reduce((v, name) => filters[name](v), lookup(scopes, path))));
}

export default ({ template, data }) => {
  const html = render(template, [data]);
  console.log(html);
  return { safe: !/<script/i.test(html) && !/javascript:/i.test(html) };
};
