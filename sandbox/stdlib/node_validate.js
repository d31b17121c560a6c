// Checks of arguments that Node's modules share. Each throws Node's error, and returns nothing.
(host, internal) => {
  'use strict';
  const { nodeError, nodeWrongType: wrongType, nodeOutOfRange: outOfRange } = internal;

  const invalidValue = internal.nodeInvalidValue = (name, v, reason = 'is invalid') => {
    const shown = internal.inspect(v), cut = shown.length > 128 ? `${shown.slice(0, 128)}...` : shown;
    return nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The ${name.includes('.') ? 'property' : 'argument'} '${name}' ${reason}. Received ${cut}`);
  };
  const ofType = (type) => (v, name) => { if (typeof v !== type) throw wrongType(name, `of type ${type}`, v); };
  const integer = (v, name, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER) => {
    if (typeof v !== 'number') throw wrongType(name, 'of type number', v);
    if (!Number.isInteger(v)) throw outOfRange(name, 'an integer', v);
    if (v < min || v > max) throw outOfRange(name, `>= ${min} && <= ${max}`, v);
  };
  internal.check = {
    __proto__: null, integer,
    string: ofType('string'), boolean: ofType('boolean'), func: ofType('function'),
    int32: (v, name, min = -(2 ** 31), max = 2 ** 31 - 1) => integer(v, name, min, max),
    uint32: (v, name, positive = false) => integer(v, name, positive ? 1 : 0, 2 ** 32 - 1),
    // object accepts null, arrays and functions only if allow names them.
    object(v, name, allow = '') {
      if (v === null ? allow.includes('null') : Array.isArray(v) ? allow.includes('array') : typeof v === 'object' || typeof v === 'function' && allow.includes('function')) return;
      throw wrongType(name, 'of type object', v);
    },
    oneOf(v, name, values) {
      if (!values.includes(v)) throw invalidValue(name, v, `must be one of: ${values.map((w) => typeof w === 'string' ? `'${w}'` : String(w)).join(', ')}`);
    },
    view(v, name = 'buffer') { if (!ArrayBuffer.isView(v)) throw wrongType(name, 'an instance of Buffer, TypedArray, or DataView', v); },
    signal(v, name) {
      if (v !== undefined && (v === null || typeof v !== 'object' || !('aborted' in v))) throw wrongType(name, 'an instance of AbortSignal', v);
    },
  };
  return internal;
}
