// A thread that waits for what nobody can send ends at the deadline, and callbacks of conversions that shrink the buffer in
// between read and write nothing beyond it.
// expect: limit wall
// expect on quickjs-ng-0.10.1: error Atomics is not defined
const buffer = new ArrayBuffer(64, { maxByteLength: 128 }), a = new Int32Array(buffer), b = new BigInt64Array(buffer);
const shrink = (value) => ({ valueOf() { buffer.resize(0); return value; }, toString() { buffer.resize(0); return `${value}`; } });
for (const name of ['add', 'and', 'compareExchange', 'exchange', 'or', 'store', 'sub', 'xor']) {
  for (const [index, value] of [[shrink(15), 1], [15, shrink(1)], [15, 1]]) {
    buffer.resize(128);
    for (const array of [a, b]) try { Atomics[name](array, index, array === b ? 1n : value, array === b ? 1n : value); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
  }
}
Object.defineProperty(Array.prototype, '0', { set() { throw 'odd'; }, configurable: true });
const shared = new Int32Array(new SharedArrayBuffer(8));
for (;;) Atomics.wait(shared, 0, 0, Infinity);
