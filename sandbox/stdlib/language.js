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
  return internal;
}
