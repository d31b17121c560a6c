// Errors belong to the guest.
// expect: error boom
Error.prototype.toString = () => { throw 1; };
Object.defineProperty(Error.prototype, 'name', { get() { throw 2; } });
throw new Error('boom');
