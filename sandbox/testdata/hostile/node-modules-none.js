// Modules that reach the machine do not exist, however they are asked for.
// grant: agent
// expect: value 0
let found = 0;
for (const name of ['child_process', 'node:net', 'dgram', 'cluster', 'worker_threads', 'vm', 'v8', 'inspector', 'tls', 'dns', 'repl', 'wasi', 'node:sqlite', './x', '/etc/passwd', '../../x', '__proto__', 'constructor']) {
  try {
    require(name);
    found++;
  } catch { /* as it should be */ }
}
try { process.binding('fs'); found++; } catch { /* as it should be */ }
try { process.dlopen({}, '/x'); found++; } catch { /* as it should be */ }
try { require('module').createRequire('/')('child_process'); found++; } catch { /* as it should be */ }
found;
