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
  return internal;
}
