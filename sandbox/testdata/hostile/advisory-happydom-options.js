// What a guest puts on prototypes grants it nothing: the grants are not read from its objects.
// CVE-2025-62410 (happy-dom): a check that code generation is off reads what the page has polluted.
// expect: value [] or limit apiCalls
const found = [];
for (const k of ['eval', 'modules', 'files', 'network', 'mode', 'hosts', 'tools', 'grants', 'allow', 'enabled', 'enableJavaScriptEvaluation', 'disallowCodeGeneration', 'limits', 'wall', 'memory', 'env', 'secrets', 'seed', 'debug', 'profile', 'sync']) {
  for (const v of [true, '*', ['*'], 'write']) {
    try { Object.prototype[k] = v; Array.prototype[k] = v; Function.prototype[k] = v; } catch { /* refused */ }
    try { if ((0, eval)('1') === 1) found.push('eval'); } catch { /* refused */ }
    try { if (Function('return 1')() === 1) found.push('Function'); } catch { /* refused */ }
    try { require('fs').readdirSync('/'); found.push('fs'); } catch { /* refused */ }
    try { await fetch('https://a.example/'); found.push('fetch'); } catch { /* refused */ }
  }
}
for (const p of [Object.prototype, Array.prototype, Function.prototype]) for (const k of Object.keys(p)) delete p[k];
return [...new Set(found)];
