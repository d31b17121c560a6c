// Fixes for bugs in the engine's built-ins. Each fix is harmless on an engine without the bug.
(host, internal) => {
  'use strict';
  const { p, define } = internal;

  // The engine's BigInt.asUintN returns a negative value unchanged if it fits into the requested number of bits.
  const asUintN = p.BigInt.asUintN;
  define(p.BigInt, 'asUintN', { asUintN(bits, bigint) {
    const width = p.trunc(+bits) || 0;
    const value = asUintN(width, bigint);
    return value < 0n ? value + 2n ** p.BigInt(width) : value;
  } }.asUintN);

  // The engine's Math.hypot adds the squares of three or more numbers as they are. V8 scales them by the largest, and adds
  // with Kahan's compensation.
  const { hypot } = Math;
  define(Math, 'hypot', { hypot(x, y) {
    const count = arguments.length;
    if (count <= 2) return count === 2 ? hypot(x, y) : count === 1 ? hypot(x) : 0;
    const values = [];
    let most = 0, nan = false;
    for (let i = 0; i < count; i++) {
      const v = p.abs(arguments[i]);
      if (v !== v) nan = true;
      else if (v > most) most = v;
      p.arrayPush(values, v);
    }
    if (most === Infinity) return Infinity;
    if (nan) return NaN;
    if (most === 0) return 0;
    let sum = 0, compensation = 0;
    for (let i = 0; i < count; i++) {
      const n = values[i] / most, summand = n * n - compensation, next = sum + summand;
      compensation = next - sum - summand;
      sum = next;
    }
    return p.sqrt(sum) * most;
  } }.hypot);

  // The engine's Array.fromAsync creates elements that are not enumerable.
  const fromAsync = p.Array.fromAsync;
  const enumerate = (array) => {
    for (let i = 0; i < array.length; i++) {
      const d = p.getOwnPropertyDescriptor(array, i);
      if (d !== undefined && d.configurable) p.defineProperty(array, i, { __proto__: null, enumerable: true });
    }
    return array;
  };
  define(p.Array, 'fromAsync', { fromAsync(items) {
    const made = p.apply(fromAsync, this, arguments);
    return this === p.Array ? p.promiseThen(made, enumerate) : made;
  } }.fromAsync);

  // Closing an iterator helper calls the return method of its source even if the source has none.
  const iterator = p.getPrototypeOf(p.getPrototypeOf([][Symbol.iterator]()));
  const sources = new p.WeakMap();
  let helper;
  for (const name of ['map', 'filter', 'take', 'drop', 'flatMap']) {
    const make = p.getOwnPropertyDescriptor(iterator, name).value;
    define(iterator, name, { [name](argument) {
      const made = p.apply(make, this, [argument]);
      p.weakMapSet(sources, made, this);
      return made;
    } }[name]);
    helper = p.getPrototypeOf(p.apply(make, [][Symbol.iterator](), [name === 'take' || name === 'drop' ? 0 : () => []]));
  }
  const close = p.getOwnPropertyDescriptor(helper, 'return').value;
  define(helper, 'return', { return() {
    const source = p.weakMapGet(sources, this);
    try {
      return p.apply(close, this, []);
    } catch (e) {
      if (source === undefined || source.return !== undefined && source.return !== null) throw e;
      return { value: undefined, done: true };
    }
  } }.return);
  // The engine does not have RegExp.$1, the first group of the last match, and the properties like it. keepMatches adds
  // them. Keeping matches takes time, so only code that mentions one of these properties gets them.
  internal.keepMatches = () => {
    if (p.hasOwn(p.RegExp, '$1')) return;
    let last = [''], input = '', start = 0;
    const exec = p.RegExp.prototype.exec;
    define(p.RegExp.prototype, 'exec', { exec(string) {
      const match = p.apply(exec, this, [string]);
      if (match !== null) {
        last = p.arraySlice(match);
        input = match.input;
        start = match.index;
      }
      return match;
    } }.exec);
    const add = (get, ...names) => {
      for (let i = 0; i < names.length; i++) p.defineProperty(p.RegExp, names[i], { __proto__: null, get, set(_) {}, enumerable: false, configurable: true });
    };
    for (let i = 1; i < 10; i++) add(() => last[i] ?? '', `$${i}`);
    add(() => input, 'input', '$_');
    add(() => last[0], 'lastMatch', '$&');
    add(() => last.length > 1 ? last[last.length - 1] ?? '' : '', 'lastParen', '$+');
    add(() => p.slice(input, 0, start), 'leftContext', '$`');
    add(() => p.slice(input, start + last[0].length), 'rightContext', "$'");
  };

  // The error of Promise.any has no message. Between is the constructor that Promise.any calls: its promises add the
  // message before they reject.
  const { any } = p.Promise;
  const rejected = 'All promises were rejected', { AggregateError } = globalThis;
  const named = (e) => {
    if (typeof e !== 'object' || e === null || p.getPrototypeOf(e) !== AggregateError.prototype || p.hasOwn(e, 'stack')) return;
    define(e, 'stack', `AggregateError: ${rejected}`);
    define(e, 'message', rejected);
  };
  const Between = function (executor) {
    return new p.Promise((resolve, reject) => executor(resolve, (e) => {
      named(e);
      reject(e);
    }));
  };
  p.defineProperty(Between, 'resolve', { __proto__: null, get: () => {
    const { resolve } = p.Promise;
    return typeof resolve === 'function' ? (v) => p.apply(resolve, p.Promise, [v]) : resolve;
  } });
  define(p.Promise, 'any', { any(promises) { return p.apply(any, this === p.Promise ? Between : this, [promises]); } }.any);
  return internal;
}
