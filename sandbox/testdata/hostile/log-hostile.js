// Values that fight being printed.
// expect: value 1
const bad = new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; }, getPrototypeOf() { throw 3; } });
console.log(bad, { get a() { throw 4; } }, { [Symbol.toPrimitive]() { throw 5; } }, Object.create(null));
return 1;
