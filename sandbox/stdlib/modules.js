// require and the registry of Node modules. Modules are created once, in the image. The host decides whether a run may
// load one. Modules are ordinary code: a guest that changes the built-ins they use breaks only its own copy.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const modules = { __proto__: null };
  internal.modules = modules;

  const granted = { __proto__: null };
  const require = function require(id) {
    if (typeof id !== 'string') throw internal.nodeWrongType('id', 'of type string', id);
    if (id === '') throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_VALUE', "The argument 'id' must be a non-empty string. Received ''");
    const name = p.startsWith(id, 'node:') && id !== 'node:test' ? p.slice(id, 5) : id;
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
  // require.main is for code that checks whether it is the main module.
  require.main = { id: '.', path: '/', exports: {}, filename: '/script.js', loaded: false, children: [], paths: ['/node_modules'] };
  internal.require = require;
  return internal;
}
