// Atomics, which the engine lacks. A guest has one thread, so that plain reads and writes are atomic. Nobody can wake a
// waiting guest: Atomics.wait lasts until its timeout.
(host, internal) => {
  'use strict';
  const { p } = internal;
  if (p.Uint8Array.fromBase64 === undefined) return internal; // quickjs-ng 0.10.1 writes beyond buffers that shrink
  const { asIntN } = p.BigInt;
  const integers = { __proto__: null, Int8Array: 1, Uint8Array: 1, Int16Array: 2, Uint16Array: 2, Int32Array: 4, Uint32Array: 4, BigInt64Array: 8, BigUint64Array: 8 };
  const isShared = (buffer) => {
    try { return p.sharedLength(buffer) >= 0; } catch { return false; }
  };
  // check returns the name of the kind of an array of integers; check and indexOf refuse what is none, as V8 words it.
  const check = (array) => {
    const kind = p.isView(array) ? p.typedTag(array) : undefined;
    if (integers[kind] === undefined) throw new p.TypeError('[object Array] is not an integer typed array.');
    if (!isShared(p.typedBuffer(array)) && p.bufferDetached(p.typedBuffer(array))) throw new p.TypeError('Cannot perform Atomics operation on a detached ArrayBuffer');
    return kind;
  };
  const indexOf = (array, index) => {
    const n = index === undefined ? 0 : p.trunc(+index) || 0;
    if (n < 0 || n >= p.typedLength(array)) throw new p.RangeError('Invalid atomic access index');
    return n;
  };
  const big = (kind) => kind === 'BigInt64Array' || kind === 'BigUint64Array';
  const valueOf = (kind, v) => {
    if (big(kind) && typeof v === 'number') throw new p.TypeError(`Cannot convert ${v} to a BigInt`);
    return big(kind) ? p.BigInt(v) : p.trunc(+v) || 0;
  };
  // change replaces an element by what f makes of it and a value, and returns the element.
  const change = (array, index, value, f) => {
    const kind = check(array), i = indexOf(array, index), v = valueOf(kind, value), old = array[i];
    array[i] = f(old, v, kind);
    return old;
  };
  const waitable = (array) => {
    const kind = check(array);
    if (kind !== 'Int32Array' && kind !== 'BigInt64Array') throw new p.TypeError('[object Array] is not an int32 or BigInt64 typed array.');
    return kind;
  };
  const longest = 0x7fffffff;
  const wait = (array, index, value, timeout) => {
    const kind = waitable(array);
    if (!isShared(p.typedBuffer(array))) throw new p.TypeError('[object Int32Array] is not a shared typed array.');
    const i = indexOf(array, index), v = valueOf(kind, value), ms = timeout === undefined ? Infinity : +timeout;
    if (array[i] !== (big(kind) ? p.apply(asIntN, p.BigInt, [64, v]) : v | 0)) return { now: 'not-equal' };
    return { ms: ms !== ms ? longest : p.min(p.max(ms, 0), longest) };
  };
  const atomics = {
    add(typedArray, index, value) { return change(typedArray, index, value, (a, b) => a + b); },
    and(typedArray, index, value) { return change(typedArray, index, value, (a, b) => a & b); },
    compareExchange(typedArray, index, expectedValue, replacementValue) {
      const kind = check(typedArray), i = indexOf(typedArray, index), wanted = valueOf(kind, expectedValue), v = valueOf(kind, replacementValue), old = typedArray[i];
      typedArray[i] = wanted; // as the array keeps it
      typedArray[i] = typedArray[i] === old ? v : old;
      return old;
    },
    exchange(typedArray, index, value) { return change(typedArray, index, value, (_, b) => b); },
    isLockFree(size) {
      size = p.trunc(+size);
      return size === 1 || size === 2 || size === 4 || size === 8;
    },
    load(typedArray, index) {
      check(typedArray);
      return typedArray[indexOf(typedArray, index)];
    },
    notify(typedArray, index, count) {
      waitable(typedArray);
      indexOf(typedArray, index);
      if (count !== undefined) +count;
      return 0;
    },
    or(typedArray, index, value) { return change(typedArray, index, value, (a, b) => a | b); },
    store(typedArray, index, value) {
      const kind = check(typedArray), i = indexOf(typedArray, index), v = valueOf(kind, value);
      typedArray[i] = v;
      return v;
    },
    sub(typedArray, index, value) { return change(typedArray, index, value, (a, b) => a - b); },
    wait(typedArray, index, value, timeout) {
      const { now, ms } = wait(typedArray, index, value, timeout);
      if (now !== undefined) return now;
      internal.sync('sleep', -p.floor(-ms));
      return 'timed-out';
    },
    waitAsync(typedArray, index, value, timeout) {
      const { now, ms } = wait(typedArray, index, value, timeout);
      if (now !== undefined || ms === 0) return { async: false, value: now ?? 'timed-out' };
      return { async: true, value: new p.Promise((resolve) => { internal.startTimer(ms, () => resolve('timed-out')); }) };
    },
    xor(typedArray, index, value) { return change(typedArray, index, value, (a, b) => a ^ b); },
  };
  const own = {};
  const names = p.keys(atomics);
  for (let i = 0; i < names.length; i++) internal.define(own, names[i], atomics[names[i]]);
  p.defineProperty(own, internal.symbols.toStringTag, { __proto__: null, value: 'Atomics', configurable: true });
  internal.define(globalThis, 'Atomics', own);
  return internal;
}
