// The functions that core.js needs from V8 in Node.js.
(require, load) => {
  'use strict';
  const fs = require('fs'), vm = require('vm'), v8 = require('v8');
  const { types } = require('util');
  const { internalBinding } = require('internal/test/binding');
  const { getPromiseDetails, getProxyDetails, previewEntries } = internalBinding('util');
  const { setPrepareStackTraceCallback } = internalBinding('errors');
  const context = vm.createContext(Object.create(null), { microtaskMode: 'afterEvaluate' });
  const evaluate = (source, filename) => new vm.Script(source, { filename }).runInContext(context);
  const turn = new vm.Script('0', { filename: 'airlock:turn' });
  const global = evaluate('globalThis', 'airlock:global');
  // Node's own answer to import() is an error of this realm, whose constructors make code here.
  internalBinding('module_wrap').setImportModuleDynamicallyCallback(evaluate(
    `{ const T = TypeError; () => { throw new T('a module cannot be imported with options here'); } }`, 'airlock:import'));
  const rejected = [];
  let origin = 0n, trace = (stack) => stack;
  process.on('unhandledRejection', (reason, promise) => { if (rejected.length < 100) rejected.push({ reason, promise }); });
  process.on('rejectionHandled', (promise) => {
    const i = rejected.findIndex((r) => r.promise === promise);
    if (i >= 0) rejected.splice(i, 1);
  });

  const room = Buffer.alloc(64 << 10);
  let ahead = [], line = '';
  const decoder = new (require('string_decoder').StringDecoder)('latin1');
  const readLine = () => {
    while (ahead.length === 0) {
      const n = fs.readSync(0, room, 0, room.length, null);
      if (n === 0) process.reallyExit(0);
      const parts = (line + decoder.write(room.subarray(0, n))).split('\n');
      line = parts.pop();
      ahead = parts;
    }
    return ahead.shift();
  };
  const lineOf = (text) => Buffer.from(text + '\n');
  const write = (bytes) => {
    for (let at = 0; at < bytes.length;) at += fs.writeSync(1, bytes, at);
  };
  // The kinds of package quickjs.
  const kindOf = (v) => {
    if (types.isProxy(v)) return 1;
    if (types.isPromise(v)) return 2;
    if (types.isNativeError(v)) return 3;
    if (types.isArgumentsObject(v)) return 4;
    if (types.isMapIterator(v)) return 5;
    if (types.isSetIterator(v)) return 6;
    if (types.isGeneratorObject(v)) return 7;
    if (types.isWeakMap(v)) return 8;
    if (types.isWeakSet(v)) return 9;
    return types.isModuleNamespaceObject(v) ? 10 : 0;
  };

  const own = (frame) => /^(airlock:|node:|\[eval\])/.test(frame.getFileName() ?? '');
  const errorToString = evaluate('Error.prototype.toString', 'airlock:error');
  const header = (e) => {
    try {
      return Reflect.apply(errorToString, e, []);
    } catch {
      return 'Error';
    }
  };

  delete global.WebAssembly;
  load({
    evaluate, readLine, lineOf, write, global, rejected, kindOf,
    quit: () => process.reallyExit(1),
    check: (source) => new vm.Script(source),
    bytesOf: (v) => types.isArrayBuffer(v) ? v : undefined,
    toBase64: (buffer) => Buffer.from(buffer).toString('base64'),
    fromBase64: (text, guest) => {
      const from = Buffer.from(text, 'base64'), to = new guest.ArrayBuffer(from.length);
      new Uint8Array(to).set(from);
      return to;
    },
    promisePart: (promise, what) => {
      const [state, result] = getPromiseDetails(promise) ?? [0];
      return what ? result : state;
    },
    proxyPart: (proxy, what) => getProxyDetails(proxy, true)?.[what ? 1 : 0] ?? null,
    iteratorPart: () => undefined,
    stackOf: (e) => e.stack,
    drain() {
      turn.runInContext(context);
      process._tickCallback();
    },
    now: () => Math.floor(Number(process.hrtime.bigint() - origin) / 1e5) / 10,
    begin(ask) {
      origin = process.hrtime.bigint();
      trace = ask;
    },
    fail(e, send) { throw e; },
    memory() {
      const s = v8.getHeapStatistics();
      return s.total_physical_size + s.external_memory;
    },
    makeRoom() {}, // V8 collects garbage before it refuses memory
    // The parts of Node.js that a job needs are compiled before the first job, and garbage is not copied with the
    // process.
    ready() {
      // Positions in stacks are those of the caller's source. No guest may reach this function, nor what it throws: both
      // are of this realm.
      setPrepareStackTraceCallback((realm, e, frames) => {
        try {
          let stack = `${header(e)}`;
          for (let i = 0; i < frames.length; i++) if (!own(frames[i])) stack += `\n    at ${frames[i]}`;
          return trace(stack);
        } catch {
          return 'Error';
        }
      });
      this.now();
      room.subarray(0, 1);
      evaluate('Promise.reject()', 'airlock:ready').catch(() => {});
      this.drain();
      this.memory();
      v8.setFlagsFromString('--expose-gc');
      vm.runInNewContext('gc')();
      v8.setFlagsFromString('--no-expose-gc');
      write(lineOf('{"ready":1}'));
    },
  });
}
