// An error whose message, name, stack and cause are getters that throw, never end in a value, or throw others.
// expect: error any
const e = new Error('x');
for (const k of ['message', 'name', 'stack', 'cause', 'toString', 'constructor', 'errors', 'code', Symbol.toPrimitive, Symbol.toStringTag]) {
  Object.defineProperty(e, k, { get() { throw new Proxy(e, { get() { throw e; }, getPrototypeOf() { throw e; } }); } });
}
throw e;
