// The library's functions look as the engine's own do: without their source.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const fileName = p.getter(p.Function.prototype, 'fileName');

  define(p.Function.prototype, 'toString', { toString() {
    const text = p.functionToString(this);
    const file = fileName(this);
    if (typeof file !== 'string' || !p.startsWith(file, 'airlock:')) return text;
    let d;
    try { d = p.getOwnPropertyDescriptor(this, 'name'); } catch { /* none */ }
    const name = d !== undefined && typeof d.value === 'string' ? d.value : '';
    return `function ${name}() {\n    [native code]\n}`;
  } }.toString);
  return internal;
}
