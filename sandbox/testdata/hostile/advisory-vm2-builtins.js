// No module of Node that is there loads others, starts anything or reaches the engine, whatever is granted.
// CVE-2026-43999, CVE-2026-47140, GHSA-6w8r-xxw2-g3hx and GHSA-46pr-c5wc-xffx (vm2): lists of forbidden modules with gaps.
// expect: value []
// grant: agent
const names = ['module', 'worker_threads', 'cluster', 'vm', 'repl', 'inspector', 'inspector/promises', 'process', 'trace_events', 'wasi', 'sqlite', 'child_process', 'v8', 'sea',
  'async_hooks', 'diagnostics_channel', 'test', 'dgram', 'net', 'tls', 'http2', 'ffi', 'vm2', 'isolated-vm', 'quickjs-emscripten', 'internal/bootstrap', 'natives', 'sys', 'constants',
  'crypto', 'https', 'http', 'fs', 'os', 'path', 'util', 'buffer', 'stream', 'events'];
const powers = ['_load', '_resolveFilename', '_extensions', 'Worker', 'runInThisContext', 'Script', 'fork', 'spawn', 'exec', 'execSync', 'dlopen', 'binding', '_linkedBinding',
  'getBuiltinModule', 'mainModule', 'open_', 'start_', 'setFlagsFromString', 'DatabaseSync', 'setEngine', 'createTracing', 'WASI', 'setDefaultCACertificates', 'Session'];
const found = [];
const look = (name, m) => {
  for (const p of powers) {
    for (const o of [m, m?.default]) if (o !== null && o !== undefined && typeof o[p] === 'function') {
      try { const v = o[p]('child_process'); if (v !== undefined && v !== null) found.push(name + '.' + p); } catch { /* refused */ }
    }
  }
};
for (const n of names) {
  for (const name of [n, 'node:' + n]) {
    try { look(name, require(name)); } catch { /* not there */ }
    try { look(name, await import(name)); } catch { /* not there */ }
  }
}
look('process', process);
look('require', require);
look('module', module);
look('module.constructor', module.constructor);
if (require.cache && Object.keys(require.cache).some((k) => !k.startsWith('/'))) found.push('require.cache');
if (require('https').globalAgent?.options?.key) found.push('globalAgent');
return found;
