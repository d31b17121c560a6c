// JSON of deeply nested values. The engine detects cycles by comparing each value with all enclosing values; a depth of
// 100,000 would take it minutes.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const deepest = 1000; // levels; the host's limit is not higher
  const shown = 6; // keys shown in a path

  // descent returns the keys that lead to an object more than n levels down, innermost first, or undefined.
  const descent = (v, n) => {
    if (v === null || typeof v !== 'object') return undefined;
    if (n === 0) return [];
    const c = p.isArray(v) ? v : internal.collection(v);
    const names = p.keys(c);
    for (let i = 0; i < names.length; i++) {
      const found = descent(c[names[i]], n - 1);
      if (found === undefined) continue;
      p.arrayPush(found, p.isArray(c) ? `[${names[i]}]` : `.${p.slice(names[i], 0, 32)}`);
      return found;
    }
    return undefined;
  };

  // levels returns a function that a replacer of JSON.stringify(v) calls with the holder and with the object that the
  // replacer returns. The function tracks the enclosing objects and returns the depth tracked so far; fresh restarts the
  // tracking. If the depth exceeds the limit, it calls refuse with the path (starting with root). refuse must throw.
  internal.levels = (v, root, refuse) => {
    const open = [];
    let depth = 0;
    return (holder, out, fresh) => {
      if (fresh) depth = 0;
      while (depth > 0 && open[depth - 1] !== holder) depth--;
      if (depth < deepest) {
        // Only an element that exists is assigned to: Array.prototype may have a setter for the index.
        if (depth < open.length) open[depth] = out;
        else p.arrayPush(open, out);
        return ++depth;
      }
      const steps = descent(v, deepest) ?? [];
      let path = root;
      for (let i = 1; i <= shown && i <= steps.length; i++) path += steps[steps.length - i];
      refuse(`${path}…`);
      return depth;
    };
  };

  // writeJSON is JSON.stringify(v) with a depth limit. refuse is as in levels.
  internal.writeJSON = (v, root, refuse) => {
    if (typeof v !== 'object' || v === null) return p.stringify(v);
    const enter = internal.levels(v, root, refuse);
    return p.stringify(v, function (key, value) {
      if (typeof value === 'object' && value !== null) enter(this, value, false);
      return value;
    });
  };

  // JSON.parse and JSON.stringify throw errors with V8's messages, because programs print them and users search for them.
  const parse = internal.parseJSON = { parse(text, reviver) {
    const read = typeof text === 'string' ? text : `${text}`;
    try {
      return p.parse(read, reviver);
    } catch (e) {
      const fault = engineError(e, p.SyntaxError) ? internal.sync('json.fault', read) : null;
      throw fault === null ? e : new p.SyntaxError(fault);
    }
  } }.parse;
  p.defineProperty(JSON, 'parse', { __proto__: null, value: parse });
  p.defineProperty(JSON, 'stringify', { __proto__: null, value: { stringify(value, replacer, space) {
    try {
      return p.stringify(value, replacer, space);
    } catch (e) {
      if (!engineError(e, p.TypeError) || e.message !== 'circular reference') throw e;
      throw new p.TypeError(`Converting circular structure to JSON${circle(value)}`);
    }
  } }.stringify });
  const engineError = (e, of) => {
    try { return p.getPrototypeOf(e) === of.prototype && typeof e.message === 'string'; } catch { return false; }
  };

  // circle describes the first cycle in a value, if it finds one within maxVisited objects.
  const maxVisited = 10000;
  const circle = (root) => {
    const path = [], on = new p.Map(), seen = new p.Set();
    let visited = 0;
    const walk = (v, key, inArray) => {
      if (v === null || typeof v !== 'object') return '';
      const from = p.mapGet(on, v);
      if (from !== undefined) return drawn(from, step(key, inArray));
      if (p.setHas(seen, v) || ++visited > maxVisited || path.length >= deepest) return '';
      p.setAdd(seen, v);
      p.mapSet(on, v, path.length);
      p.arrayPush(path, { __proto__: null, step: step(key, inArray), name: nameOf(v) });
      const array = p.isArray(v), names = p.keys(v);
      for (let i = 0; i < names.length; i++) {
        const held = p.getOwnPropertyDescriptor(v, names[i])?.value; // a getter must not run again
        const found = walk(held, names[i], array);
        if (found !== '') return found;
      }
      p.arraySplice(path, path.length - 1, 1);
      p.mapDelete(on, v);
      return '';
    };
    const step = (key, inArray) => inArray ? `index ${key}` : `property '${key}'`;
    const nameOf = (v) => {
      const { constructor } = v;
      return typeof constructor === 'function' && typeof constructor.name === 'string' ? constructor.name : 'Object';
    };
    const drawn = (from, last) => {
      let out = `\n    --> starting at object with constructor '${path[from].name}'`;
      const line = (i) => { out += `\n    |     ${path[i].step} -> object with constructor '${path[i].name}'`; };
      const end = p.min(path.length, from + 3);
      for (let i = from + 1; i < end; i++) line(i);
      if (path.length > end + 1) out += '\n    |     ...';
      for (let i = p.max(end, path.length - 1); i < path.length; i++) line(i);
      return `${out}\n    --- ${last} closes the circle`;
    };
    try { return walk(root, '', false); } catch { return ''; }
  };
  return internal;
}
