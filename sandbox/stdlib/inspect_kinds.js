// Formats each kind of object for inspect.
(host, internal) => {
  'use strict';
  const { p, inspecting, kinds } = internal;
  const { iterator, toStringTag } = Symbol;
  const { value, primitive } = inspecting;
  const bigintValueOf = p.uncurry(BigInt.prototype.valueOf), symbolValueOf = p.uncurry(Symbol.prototype.valueOf);
  const dateToString = p.uncurry(Date.prototype.toString), regexpSource = p.getter(p.RegExp.prototype, 'source');
  const functionKind = (f) => p.getPrototypeOf(f);
  const generatorFunction = functionKind(function* () {}), asyncFunction = functionKind(async () => {}), asyncGeneratorFunction = functionKind(async function* () {});
  const OBJECT = 0, ITEM = 1, EXTRA = 2; // the context in which a member is printed

  const isInstance = (v, C) => {
    try { return v instanceof C; } catch { return false; }
  };
  // constructorName returns the name of v's class, or null if v has no prototype.
  const constructorName = (v, ctx, depth) => {
    let first;
    for (let o = v; o !== null; ) {
      const d = p.getOwnPropertyDescriptor(o, 'constructor');
      if (d !== undefined && typeof d.value === 'function' && d.value.name !== '' && isInstance(v, d.value)) return `${d.value.name}`;
      o = p.getPrototypeOf(o);
      if (first === undefined) first = o;
    }
    if (first === null) return null;
    const own = typeof v === 'function' ? 'Function' : p.isArray(v) ? 'Array' : 'Object';
    if (inspecting.beyond(ctx, depth)) return `${own} <Complex prototype>`;
    const of = constructorName(first, ctx, depth + 1);
    if (of !== null) return `${own} <${of}>`;
    const inner = { __proto__: null };
    for (const name in inspecting.defaults) inner[name] = ctx[name];
    inner.customInspect = false;
    inner.depth = -1;
    return `${own} <${internal.utilInspect(first, inner)}>`;
  };
  const prefix = (constructor, tag, fallback, size = '') => {
    if (constructor === null) return tag !== '' && fallback !== tag ? `[${fallback}${size}: null prototype] [${tag}] ` : `[${fallback}${size}: null prototype] `;
    return tag !== '' && constructor !== tag ? `${constructor}${size} [${tag}] ` : `${constructor}${size} `;
  };

  const isIndex = (k) => {
    if (typeof k !== 'string' || k.length > 10 || k === '') return false;
    for (let i = 0; i < k.length; i++) {
      const c = p.charCodeAt(k, i);
      if (c < 48 || c > 57) return false;
    }
    return k === '0' || k[0] !== '0';
  };
  const keysOf = (v, hidden, withoutIndexes) => {
    // Listing the keys of a huge array takes more memory than the array, so its non-index members are not shown.
    if (withoutIndexes && v.length > 100000) return [];
    const names = p.ownKeys(v), out = [];
    const dense = withoutIndexes && v.length > 0 && names[v.length - 1] === `${v.length - 1}`; // indexes are first
    for (let i = dense ? v.length : 0; i < names.length; i++) {
      if (withoutIndexes && isIndex(names[i])) continue;
      if (hidden || p.propertyIsEnumerable(v, names[i])) p.arrayPush(out, names[i]);
    }
    return out;
  };
  const remaining = (n) => `... ${n} more item${n > 1 ? 's' : ''}`;

  const identifier = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
  const property = (ctx, v, depth, key, kind, descriptor) => {
    const d = descriptor ?? p.getOwnPropertyDescriptor(v, key) ?? { __proto__: null, value: v[key], configurable: true, enumerable: true };
    let text, gap = ' ';
    if (d.value !== undefined) {
      const more = ctx.compact !== true || kind !== OBJECT ? 2 : 3;
      ctx.indent += more;
      text = value(ctx, d.value, depth);
      if (more === 3 && ctx.breakLength < inspecting.width(text)) gap = `\n${p.repeat(' ', ctx.indent)}`;
      ctx.indent -= more;
    } else if (d.get !== undefined) text = getter(ctx, v, d, depth);
    else text = d.set !== undefined ? ctx.stylize('[Setter]', 'special') : ctx.stylize('undefined', 'undefined');
    if (kind === ITEM) return text;
    let name;
    if (typeof key === 'symbol') name = `[${ctx.stylize(inspecting.symbol(key), 'symbol')}]`;
    else if (key === '__proto__') name = "['__proto__']";
    else if (d.enumerable === false) name = `[${key}]`;
    else if (p.regexpExec(identifier, key) !== null) name = ctx.stylize(key, 'name');
    else name = ctx.stylize(inspecting.quote(key), 'string');
    return `${name}:${gap}${text}`;
  };
  const getter = (ctx, v, d, depth) => {
    const label = d.set !== undefined ? 'Getter/Setter' : 'Getter', s = ctx.stylize;
    if (!(ctx.getters && (ctx.getters === true || (ctx.getters === 'get' && d.set === undefined) || (ctx.getters === 'set' && d.set !== undefined)))) return s(`[${label}]`, 'special');
    try {
      const got = p.apply(d.get, v, []);
      ctx.indent += 2;
      let text;
      if (got === null) text = `${s(`[${label}:`, 'special')} ${s('null', 'null')}${s(']', 'special')}`;
      else if (typeof got === 'object') text = `${s(`[${label}]`, 'special')} ${value(ctx, got, depth)}`;
      else text = `${s(`[${label}:`, 'special')} ${primitive(ctx, got)}${s(']', 'special')}`;
      ctx.indent -= 2;
      return text;
    } catch (e) {
      return s(`[${label}: <Inspection threw (${e?.message})>]`, 'special');
    }
  };
  inspecting.property = property;

  // Each of the following returns the formatted contents of one kind of object, as a list of strings.
  const list = (v) => (ctx, depth) => {
    const n = p.min(p.max(0, ctx.maxArrayLength), v.length), out = [];
    for (let i = 0; i < n; i++) {
      const d = p.getOwnPropertyDescriptor(v, i);
      if (d === undefined) return sparse(ctx, v, depth, n, out, i);
      p.arrayPush(out, typeof d.value === 'number' ? primitive(ctx, d.value) : property(ctx, v, depth, i, ITEM, d));
    }
    if (v.length > n) p.arrayPush(out, remaining(v.length - n));
    return out;
  };
  const sparse = (ctx, v, depth, most, out, i) => {
    const names = p.keys(v);
    let index = i;
    for (; i < names.length && out.length < most; i++) {
      const key = names[i];
      if (!isIndex(key)) break;
      if (`${index}` !== key) {
        const n = key - index;
        p.arrayPush(out, ctx.stylize(`<${n} empty item${n > 1 ? 's' : ''}>`, 'undefined'));
        index = +key;
        if (out.length === most) break;
      }
      p.arrayPush(out, property(ctx, v, depth, key, ITEM));
      index++;
    }
    const left = v.length - index;
    if (out.length !== most) {
      if (left > 0) p.arrayPush(out, ctx.stylize(`<${left} empty item${left > 1 ? 's' : ''}>`, 'undefined'));
    } else if (left > 0) p.arrayPush(out, remaining(left));
    return out;
  };
  const typedList = (v, n) => (ctx, depth) => {
    const most = p.min(p.max(0, ctx.maxArrayLength), n), out = [];
    for (let i = 0; i < most; i++) p.arrayPush(out, primitive(ctx, v[i]));
    if (n > most) p.arrayPush(out, remaining(n - most));
    if (ctx.showHidden) {
      ctx.indent += 2;
      const hidden = ['BYTES_PER_ELEMENT', 'length', 'byteLength', 'byteOffset', 'buffer'];
      for (let i = 0; i < hidden.length; i++) p.arrayPush(out, `[${hidden[i]}]: ${value(ctx, v[hidden[i]], depth, true)}`);
      ctx.indent -= 2;
    }
    return out;
  };
  const each = (ctx, size, visit) => {
    const out = [], most = p.min(p.max(0, ctx.maxArrayLength), size);
    ctx.indent += 2;
    visit((text) => { if (out.length < most) p.arrayPush(out, text()); });
    if (size > most) p.arrayPush(out, remaining(size - most));
    ctx.indent -= 2;
    return out;
  };
  const setItems = (v, size) => (ctx, depth) => each(ctx, size, (add) => { p.setForEach(v, (item) => { add(() => value(ctx, item, depth)); }); });
  const mapItems = (v, size) => (ctx, depth) => each(ctx, size, (add) => {
    p.mapForEach(v, (item, k) => { add(() => `${value(ctx, k, depth)} => ${value(ctx, item, depth)}`); });
  });
  // itemsLeft calls f with the item and the key of what a Map or Set iterator has not yet given, without consuming it. The
  // item of an iterator of keys is the key. Without f, it returns their number.
  const itemsLeft = inspecting.itemsLeft = (v, map, f) => {
    const of = inspecting.iteratorPart(v, 0), given = inspecting.iteratorPart(v, 2), keys = inspecting.iteratorPart(v, 1) === 0;
    if (of === undefined) return 0;
    let seen = 0;
    const visit = (item, key) => { if (seen++ >= given) f(keys ? key : item, key); };
    if (f === undefined) return (map ? p.mapSize : p.setSize)(of) - given;
    if (map) p.mapForEach(of, visit);
    else p.setForEach(of, visit);
    return seen;
  };
  // iteratorItems formats the remaining items of a Map or Set iterator.
  const iteratorItems = (v, map, both) => (ctx, depth) => {
    const left = itemsLeft(v, map);
    return left <= 0 ? [''] : each(ctx, left, (add) => {
      itemsLeft(v, map, (item, key) => {
        add(() => both ? inspecting.join(ctx, [value(ctx, key, depth), value(ctx, item, depth)], '', '[', ']', true, depth) : value(ctx, item, depth));
      });
    });
  };
  const bytes = (v) => (ctx) => {
    let u;
    try { u = new p.Uint8Array(v); } catch { return [ctx.stylize('(detached)', 'special')]; }
    const n = p.typedLength(u), most = p.min(p.max(0, ctx.maxArrayLength), n);
    let text = '';
    for (let i = 0; i < most; i++) text += (i > 0 ? ' ' : '') + p.padStart(p.numberToString(u[i], 16), 2, '0');
    if (n > ctx.maxArrayLength) text += ` ... ${n - ctx.maxArrayLength} more byte${n - ctx.maxArrayLength > 1 ? 's' : ''}`;
    return [`${ctx.stylize('[Uint8Contents]', 'special')}: <${text}>`];
  };
  const promise = (v) => (ctx, depth) => {
    const state = inspecting.promiseState(v);
    if (state === 0) return [ctx.stylize('<pending>', 'special')];
    ctx.indent += 2;
    const text = value(ctx, inspecting.promiseResult(v), depth);
    ctx.indent -= 2;
    return [state === 2 ? `${ctx.stylize('<rejected>', 'special')} ${text}` : text];
  };
  inspecting.proxy = (ctx, target, handler, depth) => {
    if (inspecting.beyond(ctx, depth)) return ctx.stylize('Proxy [Array]', 'special');
    depth++;
    ctx.indent += 2;
    const out = [value(ctx, target, depth), value(ctx, handler, depth)];
    ctx.indent -= 2;
    return inspecting.join(ctx, out, '', 'Proxy [', ']', true, depth);
  };
  const nothing = () => [];
  const attributes = (ctx, fields, depth) => {
    const out = [], names = p.ownKeys(fields);
    for (let i = 0; i < names.length; i++) p.arrayPush(out, property(ctx, fields, depth, names[i], OBJECT));
    return out;
  };
  const params = (pairs) => (ctx) => {
    const out = [];
    for (let i = 0; i < pairs.length; i += 2) p.arrayPush(out, `${primitive(ctx, pairs[i])} => ${primitive(ctx, pairs[i + 1])}`);
    return out;
  };

  const functionBase = (ctx, v, constructor, tag) => {
    const source = p.functionToString(v);
    if (p.startsWith(source, 'class') && p.endsWith(source, '}')) {
      const head = p.slice(source, 5, p.indexOf(source, '{')); // as in Node, a class that extends what a call returns is a function
      if (p.indexOf(head, '(') < 0) return classBase(v, constructor, tag);
    }
    let type = 'Function';
    for (let o = v; o !== null && type === 'Function'; o = p.getPrototypeOf(o)) {
      if (o === generatorFunction) type = 'GeneratorFunction';
      else if (o === asyncGeneratorFunction) type = 'AsyncGeneratorFunction';
      else if (o === asyncFunction) type = 'AsyncFunction';
    }
    let base = `[${type}`;
    if (constructor === null) base += ' (null prototype)';
    const { name } = v;
    base += name === '' ? ' (anonymous)' : `: ${typeof name === 'string' ? name : value(ctx, name, 0)}`;
    base += ']';
    if (constructor !== type && constructor !== null) base += ` ${constructor}`;
    if (tag !== '' && constructor !== tag) base += ` [${tag}]`;
    return base;
  };
  const classBase = (v, constructor, tag) => {
    let base = `class ${(p.hasOwn(v, 'name') && v.name) || '(anonymous)'}`;
    if (constructor !== 'Function' && constructor !== null) base += ` [${constructor}]`;
    if (tag !== '' && constructor !== tag) base += ` [${tag}]`;
    if (constructor === null) base += ' extends [null prototype]';
    else {
      const { name } = p.getPrototypeOf(v);
      if (name) base += ` extends ${name}`;
    }
    return `[${base}]`;
  };

  const boxedBase = (ctx, v, k, keys, constructor, tag) => {
    let type, inner;
    const slotted = (wanted, method) => {
      if (!internal.isKind(v, k, wanted, method)) return false;
      inner = method(v);
      return true;
    };
    if (slotted(kinds.number, p.numberValueOf)) type = 'Number';
    else if (slotted(kinds.string, p.stringValueOf)) {
      type = 'String';
      p.arraySplice(keys, 0, inner.length); // its characters
    } else if (slotted(kinds.boolean, p.booleanValueOf)) type = 'Boolean';
    else if (slotted(kinds.bigint, bigintValueOf)) type = 'BigInt';
    else if (slotted(kinds.symbol, symbolValueOf)) type = 'Symbol';
    else return undefined;
    let base = `[${type}`;
    if (type !== constructor) base += constructor === null ? ' (null prototype)' : ` (${constructor})`;
    const style = ctx.stylize;
    ctx.stylize = (s) => s;
    base += `: ${primitive(ctx, inner)}]`;
    ctx.stylize = style;
    if (tag !== '' && tag !== constructor) base += ` [${tag}]`;
    return keys.length !== 0 || !ctx.colors ? base : ctx.stylize(base, type === 'String' ? 'string' : 'number');
  };

  // raw formats an object. The object's kind determines its braces, its keys and its prefix.
  inspecting.raw = (ctx, v, depth, typed) => {
    const constructor = constructorName(v, ctx, depth), hidden = ctx.showHidden;
    let tag = v[toStringTag];
    if (typeof tag !== 'string' || (tag !== '' && (hidden ? p.hasOwn : p.propertyIsEnumerable)(v, toStringTag))) tag = '';
    let base = '', before = '', open = '{', close = '}', items = nothing, array = false, keys, kind = OBJECT, size;
    const iterable = iterator in v || constructor === null;
    const k = internal.kind(v), slotted = (wanted, method) => internal.isKind(v, k, wanted, method);
    if (iterable && p.isArray(v)) {
      const head = constructor !== 'Array' || tag !== '' ? prefix(constructor, tag, 'Array', `(${v.length})`) : '';
      keys = keysOf(v, hidden, true);
      open = `${head}[`;
      close = ']';
      if (v.length === 0 && keys.length === 0) return `${open}]`;
      items = list(v);
      array = true;
      kind = EXTRA;
    } else if (iterable && slotted(kinds.set, p.setSize)) {
      size = p.setSize(v);
      open = `${prefix(constructor, tag, 'Set', `(${size})`)}{`;
      keys = keysOf(v, hidden, false);
      if (size === 0 && keys.length === 0) return `${open}}`;
      items = setItems(v, size);
    } else if (iterable && slotted(kinds.map, p.mapSize)) {
      size = p.mapSize(v);
      open = `${prefix(constructor, tag, 'Map', `(${size})`)}{`;
      keys = keysOf(v, hidden, false);
      if (size === 0 && keys.length === 0) return `${open}}`;
      items = mapItems(v, size);
    } else if (iterable && p.isView(v) && p.typedTag(v) !== undefined) {
      size = p.typedLength(v);
      keys = keysOf(v, hidden, true);
      open = `${prefix(constructor, tag, constructor === null ? p.typedTag(v) : '', `(${size})`)}[`;
      close = ']';
      if (size === 0 && keys.length === 0 && !hidden) return `${open}]`;
      items = typedList(v, size);
      array = true;
      kind = EXTRA;
    } else {
      keys = keysOf(v, hidden, false);
      if (k === kinds.mapIterator || k === kinds.setIterator) {
        const name = k === kinds.mapIterator ? 'Map' : 'Set', both = inspecting.iteratorPart(v, 1) === 2;
        const own = tag === `${name} Iterator` ? '' : tag !== '' ? `${tag}] [` : '';
        open = `[${own}${name} ${both ? 'Entries' : 'Iterator'}] {`;
        items = iteratorItems(v, k === kinds.mapIterator, both);
      } else if (typeof v === 'function') {
        base = functionBase(ctx, v, constructor, tag);
        if (keys.length === 0) return ctx.stylize(base, 'special');
      } else if (constructor === 'Object' && inspecting.pairs?.(v) !== undefined) {
        const left = inspecting.pairs(v);
        open = `${tag} {`;
        items = (c, d) => each(c, left.length, (add) => {
          for (let i = 0; i < left.length; i++) add(() => value(c, left[i], d));
        });
      } else if (constructor === 'Object') {
        if (k === kinds.args) open = '[Arguments] {';
        else if (tag !== '') open = `${prefix(constructor, tag, 'Object')}{`;
        if (keys.length === 0) return `${open}}`;
      } else if (slotted(kinds.regexp, regexpSource) && v !== p.RegExp.prototype) {
        base = p.regexpToString(v);
        const head = prefix(constructor, tag, 'RegExp');
        if (head !== 'RegExp ') base = `${head}${base}`;
        if (keys.length === 0 || inspecting.beyond(ctx, depth)) return ctx.stylize(base, 'regexp');
      } else if (slotted(kinds.date, p.dateGetTime)) {
        base = p.dateGetTime(v) !== p.dateGetTime(v) ? dateToString(v) : p.dateToISO(v);
        const head = prefix(constructor, tag, 'Date');
        if (head !== 'Date ') base = `${head}${base}`;
        if (keys.length === 0) return ctx.stylize(base, 'date');
      } else if (k === kinds.error || internal.isError(v)) {
        base = inspecting.error(ctx, v, constructor, tag, keys);
        if (keys.length === 0) return base;
      } else if (slotted(kinds.buffer, p.bufferLength) || slotted(kinds.shared, p.sharedLength)) {
        const head = prefix(constructor, tag, slotted(kinds.buffer, p.bufferLength) ? 'ArrayBuffer' : 'SharedArrayBuffer');
        if (typed && keys.length === 0) return `${head}{ byteLength: ${inspecting.number(v.byteLength, false)} }`;
        if (!typed) items = bytes(v);
        open = `${head}{`;
        p.arraySplice(keys, 0, 0, 'byteLength');
      } else if (p.isView(v)) {
        open = `${prefix(constructor, tag, 'DataView')}{`;
        p.arraySplice(keys, 0, 0, 'byteLength', 'byteOffset', 'buffer');
      } else if (k === kinds.promise) {
        open = `${prefix(constructor, tag, 'Promise')}{`;
        items = promise(v);
      } else if (k === kinds.weakSet || k === kinds.weakMap) {
        open = `${prefix(constructor, tag, k === kinds.weakSet ? 'WeakSet' : 'WeakMap')}{`;
        items = () => [ctx.stylize('<items unknown>', 'special')];
      } else if (k === kinds.module) {
        open = `${prefix(constructor, tag, 'Module')}{`;
        if (p.hasOwn(v, toStringTag)) open = '[Module: null prototype] {';
      } else if ((base = boxedBase(ctx, v, k, keys, constructor, tag) ?? '') !== '') {
        if (keys.length === 0) return base;
      } else {
        const platform = internal.isPlatform(v), fields = platform ? inspecting.platform(v) : undefined;
        // Node shows an encoder without its class.
        const head = platform && constructor === 'TextEncoder' ? '' : prefix(constructor, platform ? '' : tag, 'Object');
        if (fields?.defaultPrevented !== undefined) keys = []; // Node shows an event's attributes alone
        if (platform && internal.isParams(v)) items = params(internal.paramsOf(v));
        else if (fields !== undefined) items = (c, d) => attributes(c, fields, constructor === 'CryptoKey' ? 2 : d); // Node shows as much of one at any depth
        if (head === '[Object: null prototype] [Module] ' && !p.propertyIsEnumerable(v, toStringTag)) {
          open = '[Module: null prototype] {'; // of a bundle
          return members(ctx, v, depth, { __proto__: null, base, open, close, items, array, keys: p.arraySort(keys), kind, namespace: true });
        }
        if (keys.length === 0 && items === nothing) return `${head}{}`;
        if (platform) before = head; // Node prints the class name before any reference mark here
        else open = `${head}{`;
      }
    }
    if (inspecting.beyond(ctx, depth)) {
      if (constructor === 'URL' && keys.length === 0 && internal.isPlatform(v)) return 'URL {}'; // as Node's own inspection of it ends
      const name = p.slice(prefix(constructor, tag, p.isArray(v) ? 'Array' : 'Object'), 0, -1);
      return ctx.stylize(constructor === null ? name : `[${name}]`, 'special');
    }
    return before + members(ctx, v, depth, { __proto__: null, base, open, close, items, array, keys, kind });
  };

  // exported describes an export of the namespace of a bundled module, which has a getter for it.
  const exported = (v, key) => {
    try { return { __proto__: null, value: v[key], enumerable: true }; } catch { return undefined; }
  };
  const members = (ctx, v, depth, shape) => {
    let { base, open } = shape;
    depth++;
    p.arrayPush(ctx.seen, v);
    ctx.currentDepth = depth;
    const output = shape.items(ctx, depth);
    for (let i = 0; i < shape.keys.length; i++) {
      const key = shape.keys[i];
      p.arrayPush(output, property(ctx, v, depth, key, shape.kind, shape.namespace === true ? exported(v, key) : undefined));
    }
    if (ctx.circular !== undefined) {
      const index = p.mapGet(ctx.circular, v);
      if (index !== undefined) {
        const reference = ctx.stylize(`<ref *${index}>`, 'special');
        if (ctx.compact === true) open = `${reference} ${open}`;
        else base = base === '' ? reference : `${reference} ${base}`;
      }
    }
    p.arraySplice(ctx.seen, ctx.seen.length - 1, 1);
    if (ctx.sorted) {
      const compare = ctx.sorted === true ? undefined : ctx.sorted;
      if (shape.kind === OBJECT) p.arraySort(output, compare);
      else if (shape.keys.length > 1) {
        const sorted = p.arraySort(p.arraySlice(output, output.length - shape.keys.length), compare);
        for (let i = 0; i < sorted.length; i++) output[output.length - sorted.length + i] = sorted[i];
      }
    }
    const text = inspecting.join(ctx, output, base, open, shape.close, shape.array, depth, v);
    // Node limits the total output: beyond 128 MiB it prints no deeper levels.
    const total = (ctx.budget[ctx.indent] ?? 0) + text.length;
    ctx.budget[ctx.indent] = total;
    if (total > 2 ** 27) ctx.depth = -1;
    return text;
  };
  return internal;
}
