// Function.prototype.toString hides the source of the library's functions, as it does for the engine's own. Packages show
// theirs: some tell classes from functions by it, or compile it again.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const fileName = p.getter(p.Function.prototype, 'fileName');

  define(p.Function.prototype, 'toString', { toString() {
    const text = p.functionToString(this);
    const file = fileName(this);
    const own = typeof file === 'string' && p.startsWith(file, 'airlock:') && file !== 'airlock:packages';
    if (!own && !p.endsWith(text, '() {\n    [native code]\n}')) return text;
    let d;
    try { d = p.getOwnPropertyDescriptor(this, 'name'); } catch { /* no name */ }
    const name = d !== undefined && typeof d.value === 'string' && !p.startsWith(d.value, 'bound ') ? d.value : '';
    return `function ${name}() { [native code] }`;
  } }.toString);
  return internal;
}
