// Species belong to the guest.
// expect: value [2]
Object.defineProperty(Array, Symbol.species, { get() { for (;;) {} } });
Object.defineProperty(Promise, Symbol.species, { get() { throw 1; } });
await null;
return [2];
