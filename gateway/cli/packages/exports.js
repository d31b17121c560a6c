const own = ["length", "name", "prototype", "caller", "arguments", "default", "__esModule"];

// params returns the parameters of a function in parentheses. They have letters as names: the image has no sources.
const params = (f) => `(${[..."abcdefgh"].slice(0, f.length).join(", ")})`;

// list returns the members of an object, as many as fit into 48 KB.
const list = (object) => {
  const found = [];
  let size = 0;
  if (typeof object === "function") found.push(params(object));
  for (const name of Object.getOwnPropertyNames(object)) {
    if (own.includes(name) || !/^[A-Za-z_$][\w$]*$/.test(name)) continue;
    let text = name;
    try { if (typeof object[name] === "function") text += params(object[name]); } catch { /* it is there, and throws */ }
    if ((size += text.length + 8) > 48_000) break;
    found.push(text);
  }
  return found;
};

const one = p.default;
[list(p), one && (typeof one === "object" || typeof one === "function") ? list(one) : []];
