// Setters on Object.prototype and Array.prototype see nothing of the library.
// expect: value {"a":[1]}
let seen = '';
const names = ['0', '1', 'value', 'get', 'set', 'fn', 'args', 'name', 'message', 'next', 'seen', 'depth', 'repeat'];
for (const proto of [Object.prototype, Array.prototype]) {
  for (let i = 0; i < names.length; i++) {
    const k = names[i];
    Object.defineProperty(proto, k, { __proto__: null, set(v) { seen += k + ' '; }, get() { return undefined; }, configurable: true });
  }
}
console.log({ x: 1 }, [1, 2], new Map([[1, 2]]));
setTimeout(() => {}, 0);
if (seen !== '') throw 'seen: ' + seen;
return JSON.parse('{"a":[1]}');
