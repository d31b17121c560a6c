// this in functions is the guest's own global object, and its process has nothing behind it.
// CVE-2025-68613 and CVE-2026-27495 (n8n): this, process and Error.prepareStackTrace lead to the host.
// expect: value []
const found = [];
const self = (function () { return this; })();
for (const g of [globalThis, self, (0, function () { return this; })(), [function () { return this; }][0].call(undefined), Reflect.apply(function () { return this; }, null, [])]) {
  if (g === undefined || g === null) continue;
  const p = g.process;
  for (const k of ['mainModule', 'binding', 'dlopen', '_linkedBinding', 'getBuiltinModule', '_getActiveHandles', 'openStdin', 'kill', 'setuid', 'chdir', 'report', 'moduleLoadList']) {
    let v;
    try { v = typeof p?.[k] === 'function' ? p[k]('child_process') : p?.[k]; } catch { continue; }
    if (v !== undefined && v !== null && v !== false && typeof v !== 'number') found.push(k);
  }
  for (const k of Object.keys(p?.env ?? {})) if (/KEY|SECRET|TOKEN|AWS|PATH|AUDIT/.test(k) && p.env[k] && !/^\/(usr\/)?bin|^$/.test(p.env[k])) found.push('env ' + k);
  if (g.constructor?.constructor && g.constructor.constructor !== Function) found.push('constructor');
}
Error.prepareStackTrace = (_, sites) => sites;
const sites = new Error('x').stack;
for (const s of Array.isArray(sites) ? sites : []) {
  let v;
  try { v = s.getThis?.(); } catch { continue; }
  if (v !== undefined && v !== globalThis) found.push('getThis');
}
return found;
