// Nothing is fetched, read or installed for an import.
// expect: value 0
let found = 0;
for (const name of ['https://esm.sh/lodash', 'file:///etc/passwd', '../../../etc/passwd', '/proc/self/environ', 'data:text/javascript,1', 'lodash', './' + 'x' + '.js']) {
  try {
    await import(name);
    found++;
  } catch { /* as it should be */ }
}
found;
