// Errors that contain each other are described once.
// CVE-2026-47686 and CVE-2026-92934 (vm2): causes and lists of errors that a walk meets twice.
// expect: error any
const a = new AggregateError([], 'a', {});
const b = new Error('b', { cause: a });
a.cause = b;
a.errors.push(a, b, new Proxy(b, {}), { get message() { throw a; } });
for (let i = 0; i < 1000; i++) a.errors.push(new Error('c' + i, { cause: i % 2 ? a : b }));
console.error(a);
if (typeof SuppressedError === 'function') a.errors.push(new SuppressedError(a, b, 'd'));
throw a;
