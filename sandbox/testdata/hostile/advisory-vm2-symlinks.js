// Links in the execution's files lead to its own files only, whether they are read, required or imported.
// CVE-2026-43998 (vm2, GHSA-cp6g-6699-wx9c): a name is checked before its link is followed.
// expect: value []
// grant: node
const fs = require('fs');
const found = [];
const outside = ['/etc/passwd', '../../../../etc/passwd', '/proc/self/environ', '/proc/self/root/etc/passwd', '/dev/fd/0', '//etc/passwd'];
let n = 0;
for (const target of outside) {
  for (const make of [(name) => fs.symlinkSync(target, name), (name) => fs.linkSync(target, name), (name) => fs.copyFileSync(target, name), (name) => fs.renameSync(target, name), (name) => fs.cpSync?.(target, name)]) {
    const name = `/link${n++}.js`;
    try { make(name); } catch { continue; }
    for (const read of [() => fs.readFileSync(name, 'utf8'), () => require(name), () => fs.realpathSync(name)]) {
      try { const v = read(); if (String(v).includes('root:') || String(v).includes('PATH=')) found.push(target); } catch { /* nothing there */ }
    }
  }
}
for (const target of outside) {
  try { found.push(require(target)); } catch { /* as it should be */ }
  try { found.push(await import(target)); } catch { /* as it should be */ }
  try { found.push(await import('file://' + target)); } catch { /* as it should be */ }
}
return found;
