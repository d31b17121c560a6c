// process.exit ends a run with what its code says, and names no limit.
// expect: error the code called process.exit(-1)
Object.defineProperty(globalThis, 'output', { get() { return { toJSON() { throw 'limit' } } }, configurable: true });
try { process.exit(0) } catch {}
delete globalThis.output;
process.exit(-1);
