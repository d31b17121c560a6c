// airlock: waits that can outlive the process. The host decides whether a run may wait, and refuses with a hint if it
// may not.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const shortest = 10000; // milliseconds: a shorter sleep is a timer

  const check = (name, duration) => internal.sync('wait.check', name, duration === undefined ? null : `${duration}`);
  const wait = (name, asked) => internal.request('wait.' + name, p.stringify(asked));
  const text = (value, what) => {
    if (typeof value !== 'string') throw new p.TypeError(`${what} is not a string`);
    return value;
  };
  const options = (value, what) => {
    if (value === null || typeof value !== 'object') throw new p.TypeError(`${what} is not an object`);
    return value;
  };

  const airlock = {
    async sleep(duration) {
      if (typeof duration !== 'string' && typeof duration !== 'number') throw new p.TypeError('airlock.sleep: the duration is neither a number of milliseconds nor a string');
      const Ms = check('sleep', duration);
      if (Ms >= shortest) return await wait('sleep', { __proto__: null, Ms });
      await new p.Promise((resolve) => { internal.startTimer(Ms, () => { resolve(undefined); }); });
    },
    async waitForEvent(name, given = {}) {
      const Name = text(name, 'airlock.waitForEvent: the name');
      const { timeout } = options(given, 'airlock.waitForEvent: the second argument');
      const Ms = check('waitForEvent', timeout);
      return await wait('event', { __proto__: null, Name, Ms });
    },
    async approve(given) {
      const { title, detail = '', schema } = options(given, 'airlock.approve: the argument');
      check('approve');
      const asked = { __proto__: null, Title: text(title, 'airlock.approve: title'), Detail: text(detail, 'airlock.approve: detail') };
      if (schema !== undefined) {
        const Schema = internal.writeJSON(schema, 'schema', (path) => { throw new p.RangeError(`airlock.approve: the schema is nested too deeply: ${path}`); });
        if (typeof Schema !== 'string') throw new p.TypeError('airlock.approve: the schema cannot be written as JSON');
        asked.Schema = p.parse(Schema);
      }
      return await wait('approve', asked);
    },
  };
  define(airlock, Symbol.toStringTag, 'airlock');
  define(globalThis, 'airlock', airlock);
  return internal;
}
