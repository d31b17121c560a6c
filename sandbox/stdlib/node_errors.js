// Errors with codes, in Node's words.
(host, internal) => {
  'use strict';
  const { p, define } = internal;

  // showCode inserts an error's code after its name in the stack.
  internal.showCode = (e, name, code) => {
    const { stack } = e;
    if (p.startsWith(code, 'ERR_') && typeof stack === 'string' && p.startsWith(stack, name)) define(e, 'stack', `${name} [${code}]${p.slice(stack, name.length)}`);
  };
  const { toString } = { toString() { return `${this.name} [${this.code}]: ${this.message}`; } };
  // nodeError returns an error whose code is set as in Node: as a property and in the stack, but not in the name.
  internal.nodeError = (Base, code, message) => {
    const e = new Base(message);
    internal.showCode(e, Base.name, code);
    define(e, 'code', code);
    p.defineProperty(e, 'code', { __proto__: null, enumerable: true });
    if (p.startsWith(code, 'ERR_')) define(e, 'toString', toString);
    return e;
  };

  // wrongThis is the error of a member that is read from, or called on, another object than one of its class.
  internal.wrongThis = (name) => internal.nodeError(p.TypeError, 'ERR_INVALID_THIS', `Value of "this" must be of type ${name}`);

  // nodeKind says which value came instead of the one that is wanted.
  const kind = internal.nodeKind = (v) => {
    if (v === null || v === undefined) return ` Received ${v}`;
    if (typeof v === 'function') return ` Received function ${v.name}`;
    if (typeof v === 'object') return v.constructor?.name ? ` Received an instance of ${v.constructor.name}` : ` Received ${internal.inspect(v)}`;
    let shown = internal.inspect(v);
    if (shown.length > 28) shown = p.slice(shown, 0, 25) + '...';
    return ` Received type ${typeof v} (${shown})`;
  };
  // A name with a space stands for itself, one with a dot is that of a property.
  internal.nodeWrongType = (name, want, v) => {
    const of = p.indexOf(name, ' ') >= 0 ? name : p.indexOf(name, '.') >= 0 ? `"${name}" property` : `"${name}" argument`;
    return internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', `The ${of} must be ${want}.${kind(v)}`);
  };
  const group = (v) => {
    const s = `${v}`, sign = s[0] === '-' ? 1 : 0;
    let out = '', i = s.length;
    for (; i >= sign + 4; i -= 3) out = '_' + p.slice(s, i - 3, i) + out;
    return p.slice(s, 0, i) + out;
  };
  internal.nodeOutOfRange = (name, range, v) => {
    let got = internal.inspect(v);
    if (typeof v === 'number' && p.trunc(v) === v && (v > 2 ** 32 || v < -(2 ** 32)) && v - v === 0) got = group(v);
    else if (typeof v === 'bigint') got = (v > 2n ** 32n || v < -(2n ** 32n) ? group(v) : `${v}`) + 'n';
    return internal.nodeError(p.RangeError, 'ERR_OUT_OF_RANGE', `The value of "${name}" is out of range. It must be ${range}. Received ${got}`);
  };
  return internal;
}
