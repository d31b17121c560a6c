// Tools, secrets and api.request: defines globals from the setup of a run.
(host, internal) => {
  'use strict';
  const { p, define } = internal;

  const encode = (name, params) => {
    if (params === undefined) return '{}';
    const text = internal.writeJSON(params, 'params', (path) => {
      throw new p.RangeError(`tool ${name}: the value of the parameters is nested too deeply: ${path}`);
    });
    if (typeof text !== 'string') throw new p.TypeError(`tool ${name}: the parameters cannot be written as JSON`);
    return text;
  };

  const tool = (name, blocking) => {
    const failed = (e) => {
      define(e, 'tool', name);
      throw e;
    };
    const sync = (params) => {
      try { return internal.sync('tool', name, encode(name, params)); } catch (e) { return failed(e); }
    };
    const call = blocking ? sync : async (params) => {
      try { return await internal.request('tool:' + name, encode(name, params)); } catch (e) { return failed(e); }
    };
    define(call, 'name', name);
    define(call, 'sync', sync);
    return call;
  };

  // anyMethod returns an object whose every method is one tool, except for the names that the language itself looks up.
  const anyMethod = (call) => new p.Proxy({}, {
    __proto__: null,
    get: (target, key) => typeof key !== 'string' || key in target || key === 'then' || key === 'toJSON' ? target[key] : call,
  });

  const addTools = (list) => {
    for (let i = 0; i < list.length; i++) {
      const { namespace, method, name, blocking, any } = list[i];
      const has = p.getOwnPropertyDescriptor(globalThis, namespace);
      let owner = has?.value;
      if (owner === null || (typeof owner !== 'object' && typeof owner !== 'function')) {
        if (any) owner = anyMethod(tool(name, blocking));
        else owner = method === 'call' ? tool(name, blocking) : {}; // a tool with a one-word name can be called by that name, too
        p.defineProperty(globalThis, namespace, { __proto__: null, value: owner, writable: true, enumerable: false, configurable: true });
      }
      if (!any) p.defineProperty(owner, method, { __proto__: null, value: tool(name, blocking), writable: true, enumerable: true, configurable: true });
    }
  };

  internal.setup = (granted) => {
    if (granted.tools !== undefined) addTools(granted.tools);
    if (granted.secrets !== undefined && !p.hasOwn(globalThis, 'secrets')) define(globalThis, 'secrets', p.freeze(granted.secrets));
    internal.apiBase = granted.base;
    if (granted.network) internal.defineAPI();
    if (granted.steps) define(globalThis, '$airlock_step', (line) => { internal.sync('step', line); });
    if (granted.args !== undefined) internal.setArguments(granted.args);
    if (granted.stackDepth !== undefined) p.Error.stackTraceLimit = granted.stackDepth;
  };
  return internal;
}
