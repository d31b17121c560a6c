// Lengths near 2^31, 2^32 and 2^53 where an engine computes sizes.
// expect: value true or limit any
// expect on quickjs-ng-0.10.1: value true or limit any or error odd: unknown
const odd = (f) => { try { f(); } catch (e) { if (!(e instanceof Error)) throw 'odd: ' + typeof e; } };
for (const length of [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, -1, NaN]) {
  const o = { length, 0: 'a', get 1() { return 'b'; } };
  for (const f of [() => Array.prototype.push.call(o, 1, 2, 3), () => Array.prototype.unshift.call({ length }, 1), () => Array.prototype.at.call(o, -1), () => Array.prototype.toSpliced.call(o, 0, 0), () => Array.prototype.with.call(o, 0, 1), () => Array.prototype.toReversed.call(o), () => String.fromCharCode.apply(null, o), () => Reflect.apply(Math.max, null, o),
    () => [].concat(Object.assign({ [Symbol.isConcatSpreadable]: true }, { length })), () => 'ab'.padEnd(length), () => 'ab'.repeat(length), () => new Array(length).join('ab'), () => new ArrayBuffer(length), () => new ArrayBuffer(8, { maxByteLength: length }), () => new Uint32Array(length), () => new SharedArrayBuffer(length), () => BigInt.asUintN(length, -1n), () => BigInt.asIntN(length, 5n), () => 1n << BigInt(length), () => Array.from({ length }).length > 1e9, () => new DataView(new ArrayBuffer(8), 0, length),
    () => 'x'.substring(length - 1, length), () => 'x'.at(length), () => structuredClone(o), () => new Array(5).fill(0, length), () => [1, 2].copyWithin(length, 0), () => 'a'.localeCompare('b', undefined, o), () => (1).toFixed(length), () => (1).toString(length), () => Object.fromEntries([[length, 1]]), () => [][length] = 1, () => Uint8Array.from(o), () => crypto.getRandomValues(new Uint8Array(Math.min(length, 70000) || 0)), () => Buffer.alloc(length), () => Buffer.from(o)]) {
    if (length > 0 && /concat|join|unshift|Array.from|Uint8Array.from|Buffer.from|toReversed/.test(String(f))) continue;
    odd(f);
  }
}
return [3, 1, 2].sort().join() === '1,2,3';
