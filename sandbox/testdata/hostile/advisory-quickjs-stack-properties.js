// Stacks, columns and call sites of errors whose parts are taken away while they are made.
// quickjs-ng c846cb1, e1c1e41 and OSV-2026-764 (QuickJS): uses after free in the building of a stack.
// expect: value true or error any
let depth = 0;
Error.prepareStackTrace = (e, sites) => {
  if (depth++ < 20) { Object.defineProperty(Array.prototype, 0, { configurable: true, set() { throw new Error('setter'); } }); try { new Error('in').stack; null.x; } catch (x) { x.stack; } }
  delete Array.prototype[0];
  if (depth % 3 === 0) throw e;
  if (depth % 3 === 1) { sites.length = 0; sites.push(sites); }
  return sites;
};
Object.defineProperty(Error, 'stackTraceLimit', { configurable: true, get() { if (depth++ < 50) try { throw new TypeError('limit'); } catch (e) { e.stack; } return { valueOf() { throw 1; } }; } });
for (let i = 0; i < 200; i++) {
  try { [1].map(() => { const e = new RangeError('m', { get cause() { throw new Error('cause'); } }); Object.freeze(e); throw e; }); } catch (e) { try { e.stack = e; Error.captureStackTrace?.(e, e); Error.captureStackTrace?.(Object.freeze({})); } catch { /* refused */ } }
}
return true;
