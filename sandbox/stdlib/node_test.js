// node:test runs tests one after the other and prints TAP, as Node does where its output is no terminal. A run whose
// tests fail fails at its end.
(host, internal) => {
  'use strict';
  const { modules, define } = internal;
  const { inspect } = modules.util, { performance, process } = globalThis;

  const text = (v) => `${v}`;
  const lines = (depth, list) => { for (const line of list) process.stdout.write(`${'    '.repeat(depth)}${line}\n`); };
  const escaped = (name) => name.replace(/\\/g, '\\\\').replace(/#/g, '\\#').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\r/g, '\\r');

  // yaml returns the lines of a member of a test's details.
  const yaml = (name, value, indent, seen) => {
    if (value === undefined) return [];
    if (value === null) return [`${indent}  ${name}: ~`];
    if (typeof value === 'string' && value.includes('\n')) return [`${indent}  ${name}: |-`, ...value.split(/\r?\n/).map((line) => `${indent}    ${line}`)];
    if (typeof value !== 'object') return [`${indent}  ${name}: ${inspect(value)}`];
    if (value instanceof Date) return [`${indent}  ${name}: ${value.toISOString()}`];
    const out = [`${indent}  ${name}:`];
    for (const [k, v] of Object.entries(value)) {
      if (seen.includes(v)) out.push(`${indent}    ${k}: <Circular>`);
      else out.push(...yaml(k, v, `${indent}  `, [...seen, value]));
    }
    return out;
  };
  const details = (t) => {
    const out = ['  ---', `  duration_ms: ${t.took}`];
    if (t.suite) out.push("  type: 'suite'");
    const { failure } = t;
    if (failure !== null) {
      const { cause } = failure, of = (k) => (Object(cause) === cause ? cause[k] : undefined);
      const add = (name, value) => { out.push(...yaml(name, value, '', [])); };
      add('location', t.location);
      add('failureType', failure.type);
      add('error', of('message') ?? (Object(cause) === cause ? '<unknown error>' : typeof cause === 'string' ? cause : inspect(cause)));
      add('code', of('code') ?? 'ERR_TEST_FAILURE');
      if (of('name') !== undefined && of('name') !== 'Error') add('name', of('name'));
      if (of('code') === 'ERR_ASSERTION') for (const k of ['expected', 'actual', 'operator']) add(k, of(k));
      const frames = text(of('stack') ?? '').split('\n').filter((line) => line.startsWith('    at ')).map((line) => line.slice(7));
      if (frames.length > 0) out.push('  stack: |-', ...frames.map((frame) => `    ${frame}`));
    }
    return [...out, '  ...'];
  };
  const failed = (type, cause) => ({ type, cause });
  const failureOf = (message) => {
    const e = new Error(message);
    e.stack = '';
    return e;
  };

  const counts = { __proto__: null, tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };
  const kinds = ['before', 'after', 'beforeEach', 'afterEach'];

  // A TreeNode is the root, a suite or a test. Its children run in the order in which they were made.
  class TreeNode {
    constructor(parent, suite, name, options, fn) {
      const { skip, todo, only, timeout, plan } = options;
      Object.assign(this, { parent, suite, fn, timeout, plan, skip: skip ?? false, todo: todo ?? false, only, children: [], diagnostics: [], reported: 0, failures: 0 });
      this.name = name;
      this.depth = parent === null ? -1 : parent.depth + 1;
      this.hooks = { before: [], after: [], beforeEach: [], afterEach: [] };
      this.failure = null;
      this.finished = this.opened = false;
      this.took = 0;
      this.controller = new AbortController();
      this.done = new Promise((resolve) => { this.resolve = resolve; });
      this.queue = Promise.resolve();
      const place = /\(?([^\s()]+:\d+:\d+)\)?$/.exec(internal.plainStack().split('\n').find((line) => /:\d+:\d+\)?$/.test(line)) ?? '');
      this.location = place?.[1];
    }
    // open prints the heading of a parent before the first of its children.
    open() {
      if (this.parent === null || this.opened) return;
      this.parent.open();
      this.opened = true;
      lines(this.depth, [`# Subtest: ${escaped(this.name)}`]);
    }
    // add makes a child and runs it when those before it have ended.
    add(child) {
      this.children.push(child);
      if (this.suite) return child.done;
      this.queue = this.queue.then(() => child.run());
      return child.done;
    }
    async each(kind) {
      if (kind === 'afterEach') await this.call(kind);
      if (this.parent !== null) await this.parent.each(kind);
      if (kind === 'beforeEach') await this.call(kind);
    }
    async call(kind) {
      const list = this.hooks[kind];
      if (kind === 'before' || kind === 'after') this.hooks[kind] = []; // each runs once
      for (const hook of list) await invoke(hook, this.suite ? this : this.context, this);
    }
    async run() {
      if (this.finished) return;
      const start = performance.now();
      const previous = current;
      current = this;
      try {
        if (this.skip === false) {
          if (this.parent.parent === null || !this.parent.suite) await this.parent.call('before');
          if (this.suite) await this.runSuite();
          else await this.runTest();
        }
      } catch (e) {
        if (!this.finished) this.failure ??= failed('hookFailed', e);
      }
      current = previous;
      this.end(start);
    }
    async runSuite() {
      await this.building;
      const chosen = this.children.some((c) => c.only) ? this.children.filter((c) => c.only) : this.children;
      await this.call('before');
      for (const child of chosen) await child.run();
      await this.call('after');
    }
    async runTest() {
      this.context = new TestContext(this);
      try {
        await this.parent.each('beforeEach');
        await invoke(this.fn, this.context, this, this.timeout);
        for (const child of this.children) child.cancel('test did not finish before its parent and was cancelled');
        if (this.plan !== undefined && this.plan !== this.asserted + this.children.length) throw failureOf(`plan expected ${this.plan} assertions but received ${this.asserted + this.children.length}`);
      } catch (e) {
        this.failure ??= e instanceof Late ? failed('testTimeoutFailure', failureOf(e.message)) : failed('testCodeFailure', e);
        this.late = e instanceof Late;
      }
      try {
        await this.parent.each('afterEach');
        await this.call('after');
      } catch (e) {
        this.failure ??= failed('hookFailed', e);
      }
      this.context.mock.reset();
    }
    cancel(message) {
      if (this.finished) return;
      this.failure = failed('cancelledByParent', failureOf(message));
      this.late = true;
      for (const child of this.children) if (!child.finished) child.cancel(message);
      this.end(performance.now());
    }
    end(start) {
      if (this.finished) return;
      this.finished = true;
      this.took = Math.round((performance.now() - start) * 1e4) / 1e4;
      this.controller.abort();
      const { parent } = this;
      if (this.failure === null && this.failures > 0) this.failure = failed('subtestsFailed', failureOf(`${this.failures} subtest${this.failures > 1 ? 's' : ''} failed`));
      this.report();
      if (this.suite) counts.suites++;
      else {
        counts.tests++;
        const isTodo = this.todo !== false;
        counts[this.skip !== false ? 'skipped' : isTodo ? 'todo' : this.late ? 'cancelled' : this.failure !== null ? 'fail' : 'pass']++;
      }
      if (this.failure !== null && this.todo === false) {
        parent.failures++;
        broken = true;
      }
      this.resolve();
    }
    report() {
      const { parent, depth } = this;
      this.open();
      if (this.reported > 0) lines(depth + 1, [`1..${this.reported}`]);
      const word = (name, v) => (v === false ? '' : ` # ${name}${typeof v === 'string' && v !== '' ? ` ${escaped(v)}` : ''}`);
      lines(depth, [`${this.failure === null ? 'ok' : 'not ok'} ${++parent.reported} - ${escaped(this.name)}${this.skip !== false ? word('SKIP', this.skip) : word('TODO', this.todo)}`, ...details(this), ...this.diagnostics.map((d) => `# ${escaped(d)}`)]);
    }
  }

  // Late is the error of a test that takes longer than its timeout.
  class Late extends Error {}
  // invoke calls the function of a test or a hook, which may return a promise or take a callback.
  const invoke = (fn, context, node, timeout) => {
    const called = new Promise((resolve, reject) => {
      const done = (e) => { if (e) reject(e); else resolve(); };
      if (fn.length >= (node.suite ? 1 : 2) && !node.suite) {
        const result = fn.call(context, context, done);
        if (typeof result?.then === 'function') reject(failureOf('passed a callback but also returned a Promise'));
      } else resolve(fn.call(context, context));
    });
    if (timeout === undefined || timeout === null || timeout === Infinity) return called;
    let timer;
    return Promise.race([called, new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Late(`test timed out after ${timeout}ms`)), timeout);
      timer.unref();
    })]).finally(() => clearTimeout(timer));
  };

  class TestContext {
    #node;
    #mock;
    #assert;
    constructor(node) {
      this.#node = node;
      nodes.set(this, node);
      node.asserted = 0;
    }
    get name() { return this.#node.name; }
    get fullName() {
      const names = [];
      for (let n = this.#node; n.parent !== null; n = n.parent) names.unshift(n.name);
      return names.join(' > ');
    }
    get signal() { return this.#node.controller.signal; }
    get mock() { return this.#mock ??= new MockTracker(); }
    get assert() {
      if (this.#assert === undefined) {
        this.#assert = {};
        for (const [k, f] of Object.entries(modules.assert)) {
          if (typeof f === 'function' && k !== 'AssertionError' && k !== 'strict') {
            this.#assert[k] = (...args) => {
              this.#node.asserted++;
              return f(...args);
            };
          }
        }
      }
      return this.#assert;
    }
    plan(n) { this.#node.plan = n; }
    diagnostic(message) { this.#node.diagnostics.push(text(message)); }
    skip(message) { this.#node.skip = message ?? true; }
    todo(message) { this.#node.todo = message ?? true; }
    runOnly() {}
    test(...args) { return this.#node.add(nodeOf(this.#node, false, args)); }
  }
  for (const kind of kinds) define(TestContext.prototype, kind, function (fn) { hooked(nodes.get(this), kind, fn); });
  const nodes = new WeakMap();
  const hooked = (node, kind, fn) => {
    if (typeof fn !== 'function') throw internal.nodeWrongType('fn', 'of type function', fn);
    node.hooks[kind].push(fn);
  };

  // nodeOf makes a node of the arguments of test or describe: name, options and function, each of which may be absent.
  const nodeOf = (parent, suite, args, extra) => {
    let name = '', options = {}, fn = () => {};
    for (const a of args) {
      if (typeof a === 'string') name = a;
      else if (typeof a === 'function') fn = a;
      else if (Object(a) === a) options = a;
    }
    const node = new TreeNode(parent, suite, name || fn.name || '<anonymous>', { ...options, ...extra }, fn);
    if (suite && node.skip === false) {
      const outer = building;
      building = node;
      try { node.building = fn.call(node, { name: node.name, signal: node.controller.signal }); } catch (e) { node.failure = failed('testCodeFailure', e); }
      building = outer;
    }
    return node;
  };

  const root = new TreeNode(null, false, '', {}, () => {});
  let current = root, building = null, broken = false, started = false;
  const begin = () => {
    if (started) return;
    started = true;
    lines(0, ['TAP version 13']);
    process.on('beforeExit', settle);
    process.on('exit', finish);
  };
  let settled = false;
  const settle = () => {
    if (settled) return;
    settled = true;
    for (const child of root.children) if (!child.finished) child.cancel('Promise resolution is still pending but the event loop has already resolved');
    root.call('after').catch((e) => {
      broken = true;
      lines(0, [`# ${text(e)}`]);
    });
  };
  const finish = () => {
    settle();
    lines(0, [`1..${root.reported}`, ...Object.entries(counts).map(([k, n]) => `# ${k} ${n}`), `# duration_ms ${performance.now()}`]);
    if (!broken) return;
    process.exitCode = 1;
    throw failureOf(`${counts.fail + counts.cancelled} of ${counts.tests} tests failed`);
  };

  const runner = (suite) => {
    const make = (extra) => (...args) => {
      begin();
      const parent = building ?? root;
      return parent.add(nodeOf(parent, suite, args, extra));
    };
    const f = make();
    for (const name of ['skip', 'todo', 'only']) f[name] = make({ [name]: true });
    return f;
  };
  const test = runner(false), suite = runner(true);
  for (const kind of kinds) {
    test[kind] = (fn) => {
      begin();
      hooked(building ?? (current.parent === null ? root : current), kind, fn);
    };
  }

  // A MockFunctionContext holds the calls of a mock, and what the mock replaced.
  class MockFunctionContext {
    #once = new Map();
    #restore;
    constructor(implementation, restore) {
      this.calls = [];
      this.implementation = implementation;
      this.#restore = restore;
      Object.defineProperty(this, 'implementation', { enumerable: false });
    }
    callCount() { return this.calls.length; }
    mockImplementation(f) { this.implementation = f; }
    mockImplementationOnce(f, at = this.calls.length) { this.#once.set(at, f); }
    resetCalls() { this.calls = []; }
    restore() { this.#restore?.(); }
    next() {
      const n = this.calls.length, f = this.#once.get(n) ?? this.implementation;
      this.#once.delete(n);
      return f;
    }
  }
  const mocked = (original, implementation, times, restore) => {
    const context = new MockFunctionContext(implementation, () => {
      context.implementation = original;
      restore?.();
    });
    const fn = new Proxy(original, {
      apply(_, self, args) { return record(self, args, undefined, (f) => Reflect.apply(f, self, args)); },
      construct(_, args, target) { return record(undefined, args, target, (f) => Reflect.construct(f, args, target === fn ? f : target)); },
      get(t, k, receiver) { return k === 'mock' ? context : Reflect.get(t, k, receiver === fn ? t : receiver); },
    });
    const record = (self, args, target, call) => {
      const f = context.calls.length >= times ? original : context.next();
      const entry = { arguments: args, error: undefined, result: undefined, stack: new Error(), target: target === fn ? original : target, this: self };
      try {
        entry.result = call(f);
        if (target !== undefined) entry.this = entry.result;
        return entry.result;
      } catch (e) {
        entry.error = e;
        throw e;
      } finally { context.calls.push(entry); }
    };
    return fn;
  };
  class MockTracker {
    #mocks = [];
    fn(original = () => {}, implementation, options) {
      if (typeof original !== 'function') [original, implementation, options] = [() => {}, undefined, original];
      if (typeof implementation !== 'function') [implementation, options] = [original, implementation ?? options];
      const fn = mocked(original, implementation, options?.times ?? Infinity);
      this.#mocks.push(fn.mock);
      return fn;
    }
    method(object, name, implementation, options) {
      if (typeof implementation !== 'function') [implementation, options] = [undefined, implementation ?? options];
      let owner = object;
      while (owner !== null && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner);
      const kind = options?.getter ? 'get' : options?.setter ? 'set' : 'value';
      const found = owner === null ? undefined : Object.getOwnPropertyDescriptor(owner, name), original = found?.[kind];
      if (typeof original !== 'function') throw internal.nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'methodName' must be a method. Received ${inspect(original)}`);
      const fn = mocked(original, implementation ?? original, options?.times ?? Infinity, () => {
        if (owner === object) Object.defineProperty(object, name, found);
        else delete object[name];
      });
      Object.defineProperty(object, name, { ...found, configurable: true, [kind]: fn });
      this.#mocks.push(fn.mock);
      return fn;
    }
    getter(object, name, implementation, options) { return this.method(object, name, implementation, { ...options, getter: true }); }
    setter(object, name, implementation, options) { return this.method(object, name, implementation, { ...options, setter: true }); }
    restoreAll() { for (const m of this.#mocks) m.restore(); }
    reset() {
      this.restoreAll();
      this.#mocks = [];
    }
  }
  const mock = new MockTracker();
  modules['node:test'] = Object.assign(test, { test, it: test, describe: suite, suite, mock });
  return internal;
}
