// JSON of values that may nest without a bound. The engine looks for cycles by comparing each value with all around it: a
// hundred thousand levels would take it minutes.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const deepest = 1000; // levels; the host allows at most as many
  const shown = 6; // steps of a path

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

  // The elements are there from the start: whatever guests made of Array.prototype, they are written in place.
  const filled = () => {
    const room = [];
    for (let i = 0; i < deepest; i++) p.arrayPush(room, null);
    return room;
  };

  // levels returns a function for a replacer of JSON.stringify(v) to call with an object that it returns and its holder; fresh forgets
  // those before. It returns how many it knows that the object lies in, itself included. When they nest deeper than any limit,
  // refuse is called with the path, which begins with root; it has to throw.
  internal.levels = (v, root, refuse) => {
    const open = filled();
    let depth = 0;
    return (holder, out, fresh) => {
      if (fresh) depth = 0;
      while (depth > 0 && open[depth - 1] !== holder) depth--;
      if (depth < deepest) {
        open[depth++] = out;
        return depth;
      }
      const steps = descent(v, deepest) ?? [];
      let path = root;
      for (let i = 1; i <= shown && i <= steps.length; i++) path += steps[steps.length - i];
      refuse(`${path}…`);
      return depth;
    };
  };

  // writeJSON is JSON.stringify of v, with refuse as above.
  internal.writeJSON = (v, root, refuse) => {
    if (typeof v !== 'object' || v === null) return p.stringify(v);
    const enter = internal.levels(v, root, refuse);
    return p.stringify(v, function (key, value) {
      if (typeof value === 'object' && value !== null) enter(this, value, false);
      return value;
    });
  };

  // JSON.parse and JSON.stringify say what is wrong in the words of V8, which programs print and people look for.
  p.defineProperty(JSON, 'parse', { __proto__: null, value: { parse(text, reviver) {
    const read = typeof text === 'string' ? text : `${text}`;
    try {
      return p.parse(read, reviver);
    } catch (e) {
      const fault = engineError(e, p.SyntaxError) ? internal.sync('json.fault', read) : null;
      throw fault === null ? e : new p.SyntaxError(fault);
    }
  } }.parse });
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

  // circle describes the first circle in a value, as far as one is found within a bound.
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
        const found = walk(v[names[i]], names[i], array);
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
