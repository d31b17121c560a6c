// The functions that core.js needs from the JavaScriptCore shell. The loader evaluates this file, core.js and the
// library as built-in code, whose frames have no positions: an error of the library has the position of the guest's
// call.
(load) => {
  'use strict';
  const { $vm, print, readline, describe, drainMicrotasks, gcHeapSize, fullGC, quit } = globalThis, { now } = globalThis.performance;
  const { apply, construct, getOwnPropertyDescriptor, defineProperty } = Reflect;
  if (Uint8Array.fromBase64 === undefined || Uint8Array.prototype.toBase64 === undefined) {
    print('this JavaScriptCore has no Uint8Array.fromBase64; WebKitGTK 2.48 or newer has it');
    quit();
  }

  // The guest's realm. Its global object begins with the shell's functions, which its list of keys hides.
  const global = globalThis.createGlobalObject();
  const { $vm: inside, loadString, checkScriptSyntax, setUnhandledRejectionCallback } = global;
  const builtin = (source) => inside.createBuiltin(`(function () { return (${source}\n); })`)();
  const evaluate = (source, filename) => filename.startsWith('airlock:') ? builtin(source) : loadString(source);

  // strip removes everything besides the language from a realm. The snapshot names the properties that refer to
  // objects.
  const standard = new Set(Reflect.ownKeys($vm.createGlobalObject()));
  for (const name of ['$vm', 'console', 'WebAssembly']) standard.delete(name);
  const names = globalThis.generateHeapSnapshot().edgeNames;
  names.push('arguments', 'console', 'testLoopCount', 'wasmTestLoopCount', 'WebAssembly');
  const strip = (realm) => {
    for (const name of names) {
      if (standard.has(name) || !Object.hasOwn(realm, name)) continue;
      delete realm[name];
      if (Object.hasOwn(realm, name)) {
        print(`${name} of the shell cannot be removed`);
        quit();
      }
    }
  };
  strip(global);
  strip(globalThis);
  // Errors of an overflow in this realm reach the guest. The realm makes no code of strings.
  for (const f of [() => {}, async () => {}, function* () {}, async function* () {}]) {
    defineProperty(Object.getPrototypeOf(f), 'constructor', { __proto__: null, value: undefined });
  }
  delete globalThis.Function;
  delete globalThis.eval;

  // Rejections that nothing handles. One may be handled later.
  const rejections = [];
  const flags = $vm.createBuiltin('(function (v) { return @getPromiseInternalField(v, @promiseFieldFlags); })');
  apply(setUnhandledRejectionCallback, global, [(promise, reason) => {
    if (rejections.length < 100) rejections.push({ reason, promise });
  }]);
  const rejected = {
    shift() {
      for (;;) {
        const first = rejections.shift();
        if (first === undefined || (flags(first.promise) & 4) === 0) return first;
      }
    },
  };

  const result = $vm.createBuiltin('(function (v) { return @getPromiseInternalField(v, @promiseFieldReactionsOrResult); })');
  const target = $vm.createBuiltin('(function (v) { return @getProxyInternalField(v, @proxyFieldTarget); })');
  const handler = $vm.createBuiltin('(function (v) { return @getProxyInternalField(v, @proxyFieldHandler); })');
  const known = $vm.createBuiltin(`(function (v) {
    if (@isProxyObject(v)) return 1;
    if (@isPromise(v)) return 2;
    if (@isMapIterator(v)) return 5;
    if (@isSetIterator(v)) return 6;
    return @isGenerator(v) || @isAsyncGenerator(v) ? 7 : 0;
  })`);
  const { toString } = Object.prototype;
  const answers = (f, v) => {
    try {
      apply(f, v, [v]);
      return true;
    } catch {
      return false;
    }
  };
  // The kinds of package quickjs.
  const kindOf = (v) => {
    if (v === null || typeof v !== 'object') return 0;
    const kind = known(v);
    if (kind !== 0) return kind;
    if (Error.isError(v)) return 3;
    if (apply(toString, v, []) === '[object Arguments]' && /^Object: [^\[]*\[[^,]*, (Direct|Scoped|Cloned)?Arguments,/.test(describe(v))) return 4;
    if (answers(WeakMap.prototype.has, v)) return 8;
    return answers(WeakSet.prototype.has, v) ? 9 : 0;
  };
  const bufferLength = getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength').get;

  // Stacks. JavaScriptCore lists functions without positions, and has the position of the first beside them.
  let trace, lines = [], script = '';
  const errorToString = global.Error.prototype.toString;
  const header = (e) => {
    try {
      return apply(errorToString, e, []);
    } catch {
      return 'Error';
    }
  };
  const missing = global.ReferenceError.prototype; // of a name, which ends where the position is
  const word = /[\w$\u0080-\uffff]/;
  // startOf returns the column where V8 would see the expression whose operator is at a column: the called or created
  // function, the name, or the property that is read.
  const startOf = (line, column, isName) => {
    const text = lines[line - 1] ?? '';
    let at = column - 1;
    if (!isName && (text[at] === '.' || text[at] === '?' && text[at + 1] === '.')) {
      while (at < text.length && !word.test(text[at]) && text[at] !== '#') at++;
      return at < text.length ? at + 1 : column;
    }
    if (at > 0 && !word.test(text[at - 1])) return column;
    while (at > 0 && word.test(text[at - 1])) at--;
    let first = at;
    while (first > 1 && text[first - 1] === '.' && word.test(text[first - 2])) for (first--; first > 0 && word.test(text[first - 1]);) first--;
    const created = /\bnew\s+$/.exec(text.slice(0, first));
    return (created === null ? at : created.index) + 1;
  };
  const places = new Map();
  const placeOf = (name, line, column, isName) => {
    const key = `${name}:${line}:${column}:${isName}`;
    let place = places.get(key);
    if (place === undefined) {
      const at = `${script}:${line}:${startOf(line, column, isName)}`;
      place = trace(name === '' ? `\n    at ${at}` : `\n    at ${name} (${at})`);
      if (places.size < 1000) places.set(key, place);
    }
    return place;
  };
  const most = 10;
  // framesOf returns the frames of a stack as V8 writes them.
  const framesOf = (stack, line, column, isName) => {
    let out = '', n = 0;
    for (const entry of stack.split('\n')) {
      const at = entry.lastIndexOf('@');
      if (entry === 'global code@' || n === most) break;
      if (at !== entry.length - 1) continue; // native code, the library, or the loader
      const name = entry.slice(0, -1);
      if (n++ === 0) out += placeOf(name, line, column, isName);
      else if (name !== '') out += `\n    at ${name} (<anonymous>)`;
    }
    return out;
  };
  // stackOf returns the stack of an error. An error that the engine itself threw has its stack in the engine's form
  // until then.
  const stackOf = (e) => {
    const { stack } = e;
    if (trace === undefined || typeof stack !== 'string' || !Error.isError(e) || !Object.hasOwn(e, 'line')) return stack;
    const line = getOwnPropertyDescriptor(e, 'line').value, column = getOwnPropertyDescriptor(e, 'column')?.value;
    if (!Number.isInteger(line) || !Number.isInteger(column) || stack.includes('\n    at ')) return stack;
    return `${header(e)}${framesOf(stack, line, column, Object.getPrototypeOf(e) === missing)}`;
  };
  const finished = (e) => {
    defineProperty(e, 'stack', { __proto__: null, value: stackOf(e), writable: true, enumerable: false, configurable: true });
    delete e.line;
    delete e.column;
    delete e.sourceURL;
    return e;
  };
  // Errors that code makes have their stack in V8's form from the beginning.
  const wrapped = (name, most, parent) => {
    const Native = global[name];
    const Wrapper = builtin(`(Native, construct, finished) => ({ ${name}: function (message) {
      const given = [];
      for (let i = 0; i < arguments.length && i < ${most}; i++) given[i] = arguments[i];
      return finished(construct(Native, given, new.target === undefined ? Native : new.target));
    } }).${name}`)(Native, construct, finished);
    defineProperty(Wrapper, 'length', { __proto__: null, value: Native.length, configurable: true });
    defineProperty(Wrapper, 'prototype', { __proto__: null, value: Native.prototype, writable: false });
    defineProperty(Native.prototype, 'constructor', { __proto__: null, value: Wrapper, writable: true, enumerable: false, configurable: true });
    for (const key of ['isError', 'stackTraceLimit', 'captureStackTrace']) {
      if (Object.hasOwn(Native, key)) defineProperty(Wrapper, key, getOwnPropertyDescriptor(Native, key));
    }
    if (parent !== undefined) Object.setPrototypeOf(Wrapper, parent);
    defineProperty(global, name, { __proto__: null, value: Wrapper, writable: true, enumerable: false, configurable: true });
    return Wrapper;
  };
  const parent = wrapped('Error', 2);
  for (const name of ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']) wrapped(name, 2, parent);
  wrapped('AggregateError', 3, parent);

  const reserve = new ArrayBuffer(4 << 20);
  let origin = 0;
  load({
    evaluate, global, rejected, kindOf, stackOf, quit,
    readLine() {
      const line = readline();
      if (line === '') quit();
      return line;
    },
    lineOf: (text) => text,
    write: print,
    check: (source) => checkScriptSyntax(source),
    bytesOf: (v) => answers(bufferLength, v) ? v : undefined,
    toBase64: (buffer) => new Uint8Array(buffer).toBase64(),
    fromBase64: (text, guest) => {
      const from = Uint8Array.fromBase64(text), to = new guest.ArrayBuffer(from.length);
      new Uint8Array(to).set(from);
      return to;
    },
    promisePart: (promise, what) => {
      const state = known(promise) === 2 ? flags(promise) & 3 : 0;
      return what === 0 || what === undefined ? state : state === 0 ? undefined : result(promise);
    },
    proxyPart: (proxy, what) => known(proxy) === 1 ? (what ? handler : target)(proxy) ?? null : null,
    iteratorPart: () => undefined,
    drain: drainMicrotasks,
    now: () => Math.floor((now() - origin) * 10) / 10,
    begin(ask, job) {
      trace = ask;
      script = job.name;
      lines = job.text.split('\n');
      origin = now();
    },
    fail(e) { throw e; },
    memory: gcHeapSize,
    // The engine does not collect garbage when an allocation fails, and a collection needs memory itself.
    makeRoom() {
      reserve.transfer(0);
      fullGC();
    },
    ready() { print('{"ready":1}'); },
  });
}
