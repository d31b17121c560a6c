// Free names mean the guest's globals in every place of the grammar.
// CVE-2026-25049, CVE-2026-27577, CVE-2026-72765 and CVE-2026-85165 (n8n): places that a rewriter of expressions forgot.
// expect: value []
const found = [];
const tell = (where, v) => { if (v !== undefined && (v === null || typeof v === 'object') && v !== process) found.push(where); return where; };
const gone = (f, where) => { try { tell(where, f()); } catch (e) { if (!(e instanceof ReferenceError)) found.push(where + ' ' + e.name); } };
gone(() => [...[host]][0], 'spread');
gone(() => ({ [String(host)]: 1 }) && host, 'computed key');
gone(() => { switch (1) { case host: return host; default: return host; } }, 'case');
gone(() => class extends host {}, 'heritage');
gone(() => class { static [host] = host; }, 'member');
gone(() => class { static { host.x; } }, 'static block');
gone(() => (() => { return host; })(), 'arrow body');
gone(() => ((a = host) => a)(), 'parameter');
gone(() => { const { a = host } = {}; return a; }, 'default');
gone(() => { const { [host]: a } = {}; return a; }, 'pattern key');
gone(() => `${host}`, 'template');
gone(() => host``, 'tag');
gone(() => { for (const a of host) return a; }, 'for of');
gone(() => { label: for (const a in host) continue label; return host; }, 'for in');
gone(() => new host(), 'new');
gone(() => host?.a, 'optional');
gone(() => { try { throw 1; } catch { return host; } }, 'catch');
gone(() => (function* () { yield host; })().next().value, 'yield');
gone(() => { host &&= 1; return host; }, 'assignment');
gone(() => { ({ a: host } = { a: 1 }); return globalThis.host; }, 'target');
delete globalThis.host;
const { constructor: C } = {};
const { constructor: { constructor: F } } = () => {};
if (C !== Object || F !== Function) found.push('destructured');
try { if (F`return 1`() === 1) found.push('tagged'); } catch { /* refused */ }
return found;
