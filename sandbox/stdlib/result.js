// Serializes a result as JSON for the host. Beyond JSON: undefined → null, BigInt → decimal string, Map → object,
// Set → array, Error → {name, message, …}.
(host, internal) => {
  'use strict';
  const { p, op } = internal;
  let budget = 0, objects = 0, next = 0, followed = 0, whole, enter;

  const convert = function (key, v) {
    if (--budget < 0) host(op.limit, 0, 0, 0); // does not return: every value takes at least one byte of output
    switch (typeof v) {
      case 'undefined': return null;
      case 'bigint': return p.bigintToString(v);
      case 'object': break;
      default: return v;
    }
    if (v === null) return v;
    if (!p.isArray(v)) {
      const proto = p.getPrototypeOf(v);
      if (proto !== p.ObjectPrototype && proto !== null) v = collection(v);
    }
    if (++objects >= next) next = follow(this, v);
    return v;
  };
  // Tracking the depth of every object would double the cost of serialization, so follow samples windows of objects. A
  // window ends early if its beginning is shallow. The host checks the depth of the whole text.
  const first = 2048, part = 1152, beginning = 128, period = 16384;
  const follow = (holder, v) => {
    enter ??= internal.levels(whole, 'result', tooDeep);
    const depth = enter(holder, v, followed === 0);
    followed++;
    if (followed < part && (followed !== beginning || depth > beginning / 2)) return 0;
    followed = 0;
    return objects + period - part;
  };
  const tooDeep = (path) => { host(op.deep, path, 0, 0); }; // does not return

  const collection = internal.collection = (v) => {
    const kind = internal.kind(v);
    if (internal.isKind(v, kind, internal.kinds.map, p.mapSize)) {
      const out = { __proto__: null };
      p.mapForEach(v, (value, k) => { out[typeof k === 'symbol' ? p.symbolToString(k) : `${k}`] = value; });
      return out;
    }
    if (internal.isKind(v, kind, internal.kinds.set, p.setSize)) {
      const out = [];
      p.setForEach(v, (value) => { p.arrayPush(out, value); });
      return out;
    }
    if (internal.isError(v)) {
      const out = { __proto__: null, name: v.name, message: v.message };
      const names = p.keys(v);
      for (let i = 0; i < names.length; i++) out[names[i]] = v[names[i]];
      return out;
    }
    return v;
  };

  // cycle returns a description of the first reference from v to a value that encloses it, or undefined.
  const cycle = (v, path, seen) => {
    if (v === null || typeof v !== 'object') return undefined;
    for (let s = seen; s !== null; s = s.next) if (s.value === v) return `${path} refers back to ${s.path}`;
    const c = p.isArray(v) ? v : collection(v);
    const names = p.keys(c);
    const here = { __proto__: null, value: v, path, next: seen };
    for (let i = 0; i < names.length; i++) {
      const k = names[i];
      const found = cycle(c[k], p.isArray(c) ? `${path}[${k}]` : `${path}.${k}`, here);
      if (found !== undefined) return found;
    }
    return undefined;
  };

  // serialise returns the JSON of v. If v has a cycle, it throws an error that names the cycle.
  internal.serialise = (v, limit) => {
    if (v === undefined) return 'null';
    budget = limit;
    objects = followed = 0;
    next = first;
    whole = v;
    enter = undefined;
    try {
      const json = p.stringify(v, convert);
      return json === undefined ? 'null' : json;
    } catch (e) {
      let where;
      try { where = cycle(v, '$', null); } catch { /* report the original error */ }
      if (where !== undefined) throw new p.TypeError(`the result has a cycle and cannot be returned as JSON: ${where}`);
      throw e;
    }
  };
  return internal;
}
