// require and the register of Node modules. What a module exports is made once, in the image; whether a run may have it,
// the host says when it asks. Modules are ordinary code: a guest that changes what they stand on breaks its own copy.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const modules = { __proto__: null };
  internal.modules = modules;

  // showCode puts the code of an error behind the name that its stack begins with.
  internal.showCode = (e, name, code) => {
    const { stack } = e;
    if (p.startsWith(code, 'ERR_') && p.startsWith(stack, name)) define(e, 'stack', `${name} [${code}]${p.slice(stack, name.length)}`);
  };
  // nodeError sets the codes of errors as Node does: in code, in the stack and not in the name.
  internal.nodeError = (Base, code, message) => {
    const e = new Base(message);
    internal.showCode(e, Base.name, code);
    define(e, 'code', code);
    p.defineProperty(e, 'code', { __proto__: null, enumerable: true });
    return e;
  };

  const granted = { __proto__: null };
  const require = function require(id) {
    if (typeof id !== 'string') throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', `The "id" argument must be of type string. Received ${id === null ? 'null' : typeof id}`);
    const name = p.startsWith(id, 'node:') ? p.slice(id, 5) : id;
    if (granted[name] === true) return modules[name];
    const refused = internal.sync('module', id);
    if (refused !== true) throw internal.nodeError(p.Error, refused[0], refused[1]);
    granted[name] = true;
    return modules[name];
  };
  define(require, 'cache', { __proto__: null });
  define(require, 'resolve', (id) => (require(id), id));
  define(globalThis, 'require', require);
  define(globalThis, 'global', globalThis);
  // What code that asks whether it is the main module has of its own.
  require.main = { id: '.', path: '/', filename: '/script.js', loaded: false, exports: {}, children: [], paths: [] };
  internal.require = require;
  return internal;
}
