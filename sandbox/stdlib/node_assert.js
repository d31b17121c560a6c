// Node's assert and its deep comparison.
(host, internal) => {
  'use strict';
  const { modules } = internal;

  const keysOf = (o, strict) => {
    const keys = Object.keys(o);
    return strict ? keys.concat(Object.getOwnPropertySymbols(o).filter((s) => Object.prototype.propertyIsEnumerable.call(o, s))) : keys;
  };
  const primitive = (v) => v === null || (typeof v !== 'object' && typeof v !== 'function');

  const deepEqual = (a, b, strict, seen = []) => {
    if (strict ? Object.is(a, b) : a === b || (a !== a && b !== b)) return true;
    if (primitive(a) || primitive(b)) {
      // eslint-disable-next-line eqeqeq
      return !strict && primitive(a) && primitive(b) && a == b;
    }
    if (typeof a === 'function' || typeof b === 'function') return false;
    if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    const tag = Object.prototype.toString.call(a);
    if (tag !== Object.prototype.toString.call(b)) return false;
    if (Array.isArray(a) !== Array.isArray(b) || Array.isArray(a) && a.length !== b.length) return false;
    const { types } = modules.util;
    if (types.isDate(a) && a.getTime() !== b.getTime() && !(Number.isNaN(a.getTime()) && Number.isNaN(b.getTime()))) return false;
    if (internal.temporalText?.(a) !== internal.temporalText?.(b)) return false;
    if (types.isRegExp(a) && (String(a) !== String(b) || a.lastIndex !== b.lastIndex)) return false;
    if (a instanceof Error !== b instanceof Error) return false;
    if (a instanceof Error && (a.name !== b.name || a.message !== b.message)) return false;
    if (modules.crypto?.KeyObject !== undefined && a instanceof modules.crypto.KeyObject && !a.equals(b)) return false;
    if (types.isBoxedPrimitive(a) && !Object.is(a.valueOf(), b.valueOf())) return false;
    if (ArrayBuffer.isView(a)) {
      if (a.byteLength !== b.byteLength) return false;
      // Loosely, floats are compared as numbers: 0 and -0 are the same, and NaN is like nothing.
      const floats = !strict && /Float/.test(tag);
      const x = floats ? a : new Uint8Array(a.buffer, a.byteOffset, a.byteLength), y = floats ? b : new Uint8Array(b.buffer, b.byteOffset, b.byteLength);
      for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return false;
    } else if (types.isAnyArrayBuffer(a) && !deepEqual(new Uint8Array(a), new Uint8Array(b), strict)) return false;
    for (const [x, y] of seen) if (x === a && y === b) return true;
    seen.push([a, b]);
    try {
      if (a instanceof Error && (!deepEqual(a.cause, b.cause, strict, seen) || !deepEqual(a.errors, b.errors, strict, seen))) return false;
      if (types.isSet(a) && !sameSet(a, b, strict, seen)) return false;
      if (types.isMap(a) && !sameMap(a, b, strict, seen)) return false;
      // The elements of a view, and those of a string, are not compared again.
      const own = (o) => ArrayBuffer.isView(o) || types.isStringObject(o) ? keysOf(o, strict).filter((k) => typeof k !== 'string' || !/^[0-9]/.test(k)) : keysOf(o, strict);
      const keys = own(a);
      if (keys.length !== own(b).length) return false;
      for (const k of keys) {
        if (!Object.prototype.propertyIsEnumerable.call(b, k) || !deepEqual(a[k], b[k], strict, seen)) return false;
      }
      return true;
    } finally {
      seen.pop();
    }
  };
  const sameSet = (a, b, strict, seen) => {
    if (a.size !== b.size) return false;
    const rest = [...b].filter((v) => !a.has(v));
    for (const v of a) {
      if (b.has(v)) continue;
      const i = rest.findIndex((w) => deepEqual(v, w, strict, seen));
      if (i < 0) return false;
      rest.splice(i, 1);
    }
    return true;
  };
  const sameMap = (a, b, strict, seen) => {
    if (a.size !== b.size) return false;
    // Loosely, a key with another value may be the equal of a key of another type.
    const same = (k) => a.has(k) && b.has(k) && deepEqual(a.get(k), b.get(k), strict, seen);
    const rest = [...b].filter(([k]) => !a.has(k) || !strict && !same(k));
    for (const [k, v] of a) {
      if (same(k)) continue;
      if (strict && b.has(k)) return false;
      const i = rest.findIndex(([l, w]) => deepEqual(k, l, strict, seen) && deepEqual(v, w, strict, seen));
      if (i < 0) return false;
      rest.splice(i, 1);
    }
    return true;
  };
  internal.deepEqual = deepEqual;

  // bare returns a copy of an error without its stack, which a message does not show.
  const bare = (e) => Object.defineProperty(Object.assign({ __proto__: Object.getPrototypeOf(e) }, e), 'message', { value: e.message });
  const textOf = (message, actual, expected, operator) => {
    const given = message !== undefined && message !== null;
    if (given && operator !== 'strictEqual' && operator !== 'deepStrictEqual') return String(message);
    if (!given && actual instanceof Error && expected instanceof Error) return internal.assertMessage(bare(actual), bare(expected), operator);
    return internal.assertMessage(actual, expected, operator, given ? String(message) : '');
  };

  class AssertionError extends Error {
    constructor(options = undefined) {
      internal.check.object(options, 'options');
      const { message, actual, expected, operator } = options;
      super(textOf(message, actual, expected, operator));
      this.generatedMessage = !message;
      this.code = 'ERR_ASSERTION';
      internal.showCode(this, 'AssertionError', 'ERR_ASSERTION');
      this.actual = actual;
      this.expected = expected;
      this.operator = operator;
    }
    get name() { return 'AssertionError'; }
    toString() { return `${this.name} [${this.code}]: ${this.message}`; }
  }

  const fail = (actual, expected, message, operator, otherwise) => {
    if (message instanceof Error) throw message;
    const e = new AssertionError({ message: message ?? otherwise, actual, expected, operator });
    e.generatedMessage = !message && operator !== 'ifError';
    throw e;
  };
  const failed = (actual, expected, operator, message) => fail(actual, expected, message, operator);
  const show = (v) => internal.inspect(v);

  // Comparison holds the members that are compared, for the message.
  class Comparison {}
  const matches = (e, expected, message, name) => {
    if (expected === undefined) return;
    if (expected instanceof RegExp) {
      if (expected.test(String(e))) return;
      fail(e, expected, message, name, `The input did not match the regular expression ${show(expected)}. Input:\n\n${show(String(e))}\n`);
    } else if (typeof expected === 'function') {
      if (expected.prototype !== undefined && e instanceof expected) return;
      if (Error.isPrototypeOf(expected)) fail(e, expected, message, name, `The error is expected to be an instance of "${expected.name}". Received "${e?.constructor?.name ?? typeof e}"\n\nError message:\n\n${e?.message}`);
      const answer = expected.call({}, e);
      if (answer === true) return;
      fail(e, expected, message, name, `The ${expected.name ? `"${expected.name}" ` : ''}validation function is expected to return "true". Received ${show(answer)}${e instanceof Error ? `\n\nCaught error:\n\n${e}` : ''}`);
    } else {
      if (primitive(e)) fail(e, expected, message, name, internal.assertMessage(e, expected, 'deepStrictEqual'));
      const names = expected instanceof Error ? [...Object.keys(expected), 'name', 'message'] : Object.keys(expected);
      if (names.length === 0) throw internal.nodeInvalidValue('error', expected, 'may not be an empty object');
      const fits = (k) => expected[k] instanceof RegExp && typeof e?.[k] === 'string' ? expected[k].test(e[k]) : k in Object(e) && deepEqual(e[k], expected[k], true);
      if (names.every(fits)) return;
      const actual = new Comparison(), wanted = new Comparison();
      for (const k of names) {
        if (k in Object(e)) actual[k] = e[k];
        wanted[k] = expected[k] instanceof RegExp && fits(k) ? e[k] : expected[k];
      }
      fail(e, expected, message, name, internal.assertMessage(actual, wanted, 'deepStrictEqual'));
    }
  };
  const missing = (expected, message, name) => {
    if (typeof expected === 'string') { message = expected; expected = undefined; }
    failed(undefined, expected, name, `Missing expected ${name === 'rejects' ? 'rejection' : 'exception'}${expected?.name ? ` (${expected.name})` : ''}${message ? `: ${message}` : '.'}`);
  };

  // ambiguous refuses a message that is the text of the error, which was probably meant to be checked.
  const ambiguous = (e, message) => {
    const what = e?.message === message ? 'error message' : 'error';
    if (what === 'error message' || e === message) throw internal.nodeError(TypeError, 'ERR_AMBIGUOUS_ARGUMENT', `The "error/message" argument is ambiguous. The ${what} "${message}" is identical to the message.`);
  };

  // checkExpected refuses an expected error of a wrong type.
  const checkExpected = (expected, given) => {
    if (typeof expected === 'string' ? given === 3 : expected !== undefined && expected !== null && typeof expected !== 'object' && typeof expected !== 'function') throw internal.nodeWrongType('error', 'of type function or an instance of Error, RegExp, or Object', expected);
  };

  // promiseOf returns the promise to check, or the one that a function returns.
  const promiseOf = (given) => {
    const promise = typeof given === 'function' ? given() : given, isPromise = typeof promise?.then === 'function';
    if (!isPromise && typeof given === 'function') throw internal.nodeError(TypeError, 'ERR_INVALID_RETURN_VALUE', `Expected instance of Promise to be returned from the "promiseFn" function but got ${internal.nodeKind(promise).slice(' Received '.length)}.`);
    if (!isPromise) throw internal.nodeWrongType('promiseFn', 'of type function or an instance of Promise', promise);
    return promise;
  };

  // unwanted throws an error that is not of the expected class as it is.
  const unwanted = (e, expected, message, name) => {
    if (typeof expected === 'string') { message = expected; expected = undefined; }
    if (typeof expected === 'function' && !(expected.prototype !== undefined && e instanceof expected) && (Error.isPrototypeOf(expected) || expected.call({}, e) !== true)) throw e;
    if (expected instanceof RegExp && !expected.test(String(e))) throw e;
    failed(e, expected, name, `Got unwanted ${name === 'doesNotReject' ? 'rejection' : 'exception'}${message ? `: ${message}` : '.'}\nActual message: "${e?.message}"`);
  };

  // falsy returns the message of an expression that is false, with the text of the call.
  const falsy = () => {
    const frame = internal.plainStack().split('\n').find((line) => line.startsWith('    at ')) ?? '';
    const call = internal.sync('stack.call', frame);
    return `The expression evaluated to a falsy value${call === '' ? '' : `:\n\n  ${call.split('\n').join('\n  ')}\n`}`;
  };
  const assert = function ok(value, message) {
    if (arguments.length === 0) fail(undefined, true, undefined, '==', 'No value argument passed to `assert.ok()`');
    if (!value) fail(value, true, message, '==', message === undefined || message === null ? falsy() : undefined);
  };
  const equal = (operator, test) => function (a, b, message) {
    if (arguments.length < 2) throw internal.nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "actual" and "expected" arguments must be specified');
    if (!test(a, b)) fail(a, b, message, operator, undefined);
  };
  const checkPattern = (re) => { if (!modules.util.types.isRegExp(re)) throw internal.nodeWrongType('regexp', 'an instance of RegExp', re); };
  const loose = (a, b) => a == b || a !== a && b !== b; // eslint-disable-line eqeqeq
  Object.assign(assert, {
    ok: assert, AssertionError,
    equal: equal('==', loose),
    notEqual: equal('!=', (a, b) => !loose(a, b)),
    strictEqual: equal('strictEqual', Object.is),
    notStrictEqual: equal('notStrictEqual', (a, b) => !Object.is(a, b)),
    deepEqual: equal('deepEqual', (a, b) => deepEqual(a, b, false)),
    notDeepEqual: equal('notDeepEqual', (a, b) => !deepEqual(a, b, false)),
    deepStrictEqual: equal('deepStrictEqual', (a, b) => deepEqual(a, b, true)),
    notDeepStrictEqual: equal('notDeepStrictEqual', (a, b) => !deepEqual(a, b, true)),
    match(s, re, message) {
      checkPattern(re);
      if (typeof s !== 'string' || !re.test(s)) fail(s, re, message, 'match', typeof s === 'string' ? `The input did not match the regular expression ${show(re)}. Input:\n\n${show(s)}\n` : `The "string" argument must be of type string.${internal.nodeKind(s)}`);
    },
    doesNotMatch(s, re, message) {
      checkPattern(re);
      if (typeof s === 'string' && re.test(s)) fail(s, re, message, 'doesNotMatch', `The input was expected to not match the regular expression ${show(re)}. Input:\n\n${show(s)}\n`);
    },
    fail(actual, expected, message, operator) {
      const n = arguments.length;
      if (n <= 1) fail(undefined, undefined, actual ?? undefined, 'fail', 'Failed');
      if (message instanceof Error) throw message;
      throw new AssertionError({ actual, expected, message, operator: operator ?? (n === 2 ? '!=' : 'fail') });
    },
    ifError(v) { if (v !== null && v !== undefined) fail(v, null, undefined, 'ifError', `ifError got unwanted exception: ${typeof v !== 'object' || typeof v.message !== 'string' ? show(v) : v.message === '' && v.constructor ? v.constructor.name : v.message}`); },
    throws(f, expected, message) {
      if (typeof f !== 'function') throw internal.nodeWrongType('fn', 'of type function', f);
      let caught;
      try { f(); } catch (e) { caught = { e }; }
      checkExpected(expected, arguments.length);
      if (caught === undefined) missing(expected, message, 'throws');
      if (typeof expected === 'string') { ambiguous(caught.e, expected); expected = undefined; }
      matches(caught.e, expected, message, 'throws');
    },
    doesNotThrow(f, expected, message) {
      if (typeof f !== 'function') throw internal.nodeWrongType('fn', 'of type function', f);
      try { f(); } catch (e) { unwanted(e, expected, message, 'doesNotThrow'); }
    },
    async rejects(promise, expected, message) {
      let caught;
      const waited = promiseOf(promise);
      try { await waited; } catch (e) { caught = { e }; }
      checkExpected(expected, arguments.length);
      if (caught === undefined) missing(expected, message, 'rejects');
      if (typeof expected === 'string') { ambiguous(caught.e, expected); expected = undefined; }
      matches(caught.e, expected, message, 'rejects');
    },
    async doesNotReject(promise, expected, message) {
      const waited = promiseOf(promise);
      try { await waited; } catch (e) { unwanted(e, expected, message, 'doesNotReject'); }
    },
  });
  const nothing = () => () => {}; // without a name
  // CallTracker counts the calls of functions.
  class CallTracker {
    #counted = new Map();
    #of(tracked) {
      const calls = this.#counted.get(tracked);
      if (calls === undefined) throw internal.nodeInvalidValue('tracked', tracked, 'is not a tracked function');
      return calls;
    }
    calls(fn, expected = 1) {
      if (process._exiting) throw internal.nodeError(Error, 'ERR_UNAVAILABLE_DURING_EXIT', 'Cannot call function in process exit handler');
      if (typeof fn === 'number') [fn, expected] = [nothing(), fn];
      else if (fn === undefined) fn = nothing();
      internal.check.uint32(expected, 'expected', true);
      const entry = { expected, calls: [], name: fn.name || 'calls', stack: new Error() };
      const tracked = new Proxy(fn, {
        __proto__: null,
        apply(f, thisArg, args) {
          entry.calls.push(Object.freeze({ thisArg, arguments: Object.freeze([...args]) }));
          return Reflect.apply(f, thisArg, args);
        },
      });
      this.#counted.set(tracked, entry);
      return tracked;
    }
    getCalls(tracked) { return Object.freeze([...this.#of(tracked).calls]); }
    reset(tracked) {
      if (tracked !== undefined) this.#of(tracked).calls = [];
      else for (const entry of this.#counted.values()) entry.calls = [];
    }
    report() {
      const wrong = [...this.#counted.values()].filter((e) => e.calls.length !== e.expected);
      return wrong.map((e) => ({ message: `Expected the ${e.name} function to be executed ${e.expected} time(s) but was executed ${e.calls.length} time(s).`, actual: e.calls.length, expected: e.expected, operator: e.name, stack: e.stack }));
    }
    verify() {
      const errors = this.report();
      if (errors.length > 0) throw new AssertionError({ message: errors.length === 1 ? errors[0].message : 'Functions were not called the expected number of times', details: errors });
    }
  }
  assert.CallTracker = CallTracker;
  const strict = (...args) => assert(...args);
  assert.strict = Object.assign(strict, assert, {
    equal: assert.strictEqual, notEqual: assert.notStrictEqual, deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual, strict,
  });
  modules.assert = assert;
  modules['assert/strict'] = assert.strict;
  return internal;
}
