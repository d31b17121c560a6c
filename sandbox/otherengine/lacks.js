// Functions that the library uses from QuickJS and that another engine may lack.
(host, internal) => {
  'use strict';
  const { p, define } = internal;

  const codes = ['IndexSizeError', 'DOMStringSizeError', 'HierarchyRequestError', 'WrongDocumentError', 'InvalidCharacterError',
    'NoDataAllowedError', 'NoModificationAllowedError', 'NotFoundError', 'NotSupportedError', 'InUseAttributeError',
    'InvalidStateError', 'SyntaxError', 'InvalidModificationError', 'NamespaceError', 'InvalidAccessError', 'ValidationError',
    'TypeMismatchError', 'SecurityError', 'NetworkError', 'AbortError', 'URLMismatchError', 'QuotaExceededError', 'TimeoutError',
    'InvalidNodeTypeError', 'DataCloneError'];
  const states = new p.WeakMap();
  const of = (e) => {
    const state = p.weakMapGet(states, e);
    if (state === undefined) throw new p.TypeError('not a DOMException');
    return state;
  };
  // An error by its internals, which has a stack, and a class by its prototype.
  const DOMException = function DOMException(message = '', name = 'Error') {
    if (new.target === undefined) throw new p.TypeError("Class constructor DOMException cannot be invoked without 'new'");
    const e = p.construct(p.Error, [`${message}`], new.target);
    delete e.message;
    p.weakMapSet(states, e, { __proto__: null, message: `${message}`, name: `${name}` });
    return e;
  };
  const proto = p.create(p.Error.prototype);
  p.defineProperty(DOMException, 'prototype', { __proto__: null, value: proto, writable: false });
  p.defineProperty(DOMException, 'length', { __proto__: null, value: 0, configurable: true });
  define(proto, 'constructor', DOMException);
  const attributes = {
    get name() { return of(this).name; },
    get message() { return of(this).message; },
    get code() { return p.arrayIndexOf(codes, of(this).name) + 1; },
  };
  for (const name of ['name', 'message', 'code']) {
    p.defineProperty(proto, name, { __proto__: null, get: p.getOwnPropertyDescriptor(attributes, name).get, enumerable: true, configurable: true });
  }
  p.defineProperty(proto, Symbol.toStringTag, { __proto__: null, value: 'DOMException', configurable: true });
  for (let i = 0; i < codes.length; i++) {
    const word = codes[i] === 'URLMismatchError' ? 'URL_MISMATCH_ERR' : codes[i] === 'DOMStringSizeError' ? 'DOMSTRING_SIZE_ERR'
      : p.toUpperCase(codes[i].slice(0, -5).replace(/([a-z])([A-Z])/g, '$1_$2')) + '_ERR';
    const constant = { __proto__: null, value: i + 1, enumerable: true };
    p.defineProperty(DOMException, word, constant);
    p.defineProperty(proto, word, constant);
  }
  if (globalThis.DOMException === undefined) define(globalThis, 'DOMException', DOMException);
  internal.stackOf = (e) => host(internal.op.sync, 'value.stack', e);
  define(globalThis, 'performance', { now: () => host(internal.op.sync, 'engine.now') });
  return internal;
}
