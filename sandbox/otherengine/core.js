// The engine's side of the protocol. It builds the guest's realm from the standard library, waits for one job, and then
// carries out the host's steps until the process is killed. engine holds the functions of node.js or jsc.js for its
// engine. doc.go has the messages.
(engine, files) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { evaluate } = engine;
  const guest = evaluate(`({
    parse: JSON.parse, ArrayBuffer, TypeError,
    eval: { AsyncFunction: (async () => {}).constructor, GeneratorFunction: (function* () {}).constructor,
      AsyncGeneratorFunction: (async function* () {}).constructor, Function },
  })`, 'airlock:realm');
  const op = { settled: 4, done: 5, fail: 6, limit: 7, sync: 9, early: 11, deep: 12, tick: 13 };

  // The stack or the memory may run out while a line is written or read. The two sides would then be out of step, so
  // the process ends. Where possible, the call with space for its arguments fails before that.
  const { apply } = Reflect, empty = () => {}, room = Array(512).fill(0);
  let midway = false;
  const wholly = (exchange, bytes) => {
    if (midway) engine.quit();
    apply(empty, undefined, room);
    midway = true;
    const line = exchange(bytes);
    midway = false;
    return line;
  };
  // held are small lines that go out with the next one: each write wakes the host.
  let held = '';
  const write = (bytes) => {
    held = '';
    engine.write(bytes);
  };
  const both = (bytes) => {
    write(bytes);
    return engine.readLine();
  };
  const readLine = () => wholly(engine.readLine);
  const send = (message) => { wholly(write, engine.lineOf(held + stringify(message))); };
  const hold = (message) => {
    const line = stringify(message);
    if (line.length > 1000) send(message);
    else held += `${line}\n`;
  };
  const forever = () => { for (;;) readLine(); };

  // pack returns a value as the host reads it. Objects stay here, apart from the bytes of buffers.
  const pack = (v) => {
    switch (typeof v) {
      case 'string': case 'boolean': return v;
      case 'number': return Number.isInteger(v) && Math.abs(v) < 2 ** 31 ? v : null;
      case 'undefined': return { u: 1 };
    }
    if (v === null) return v;
    const bytes = engine.bytesOf(v);
    return bytes === undefined ? { o: 1 } : { b: engine.toBase64(bytes) };
  };
  const unpack = (m) => {
    if (m.b !== undefined) return engine.fromBase64(m.b, guest);
    if (m.j !== undefined) return guest.parse(m.j);
    return m.s;
  };

  // The operations on values that only their own engine can answer.
  const local = {
    __proto__: null,
    'engine.now': () => engine.now(),
    'value.kind': engine.kindOf,
    'value.promise': engine.promisePart,
    'value.proxy': engine.proxyPart,
    'value.iterator': engine.iteratorPart,
    'value.stack': engine.stackOf,
  };
  // ask calls a host operation and returns its answer.
  const ask = (message) => {
    const bytes = engine.lineOf(held + stringify(message));
    return unpack(parse(wholly(both, bytes)));
  };
  let roots, ticks = false, settled = false, failed = false;
  const answer = (code, a, b, c, d, e, f, g) => {
    if (roots === undefined) {
      roots = [code, a, b, c, d, e, f, g];
      return undefined;
    }
    if (code === op.tick) {
      if (a !== 1) ticks = true; // 1 is about rejections, which are reported when nothing is pending
      return undefined;
    }
    if (code === op.settled || code === op.done) {
      hold([code, pack(a), pack(b), pack(c)]);
      if (code === op.settled) settled = a !== 0;
      return undefined;
    }
    if (code !== op.sync) {
      if (code === op.fail) failed = true;
      send([code, pack(a), pack(b), pack(c)]);
      if (code === op.limit || code === op.early || code === op.deep) forever();
      return undefined;
    }
    const own = local[a];
    if (own !== undefined) return own(b, c);
    const given = [b, c, d, e, f, g], message = [code, a];
    let last = 6;
    while (last > 0 && given[last - 1] === undefined) last--;
    for (let i = 0; i < last; i++) message.push(pack(given[i]));
    return ask(message);
  };

  // host is the function that the guest's realm calls. A failure on this side, such as a stack overflow, is an error of
  // this realm, whose constructors could make code here, so the guest gets an error of its own realm.
  const host = evaluate(`(answer) => {
    'use strict';
    const { apply } = Reflect, { isPrototypeOf } = Object.prototype, object = Object.prototype, R = RangeError, T = TypeError;
    return (code, a, b, c, d, e, f, g) => {
      try {
        return answer(code, a, b, c, d, e, f, g);
      } catch (failed) {
        const given = typeof failed === 'object' && failed !== null || typeof failed === 'function';
        if (!given || apply(isPrototypeOf, object, [failed])) throw failed;
        throw new (failed.name === 'RangeError' ? R : T)(\`\${failed.message}\`);
      }
    };
  }`, 'airlock:host')(answer);

  let internal;
  for (const [name, source] of files) internal = evaluate(source, name)(host, internal);
  const [start, finish, fire, settle] = roots;
  // An allocation may have failed, and a report needs memory.
  const { fail } = internal;
  internal.fail = (e) => {
    engine.makeRoom();
    fail(e);
  };

  const compile = (job) => {
    try {
      const fn = evaluate(job.text, job.name);
      try {
        if (job.other !== undefined) engine.check(job.other);
      } catch {
        send({ escapes: 1 });
        forever();
      }
      return fn;
    } catch (e) {
      send({ compile: [`${e.name}`, `${e.message}`] });
      forever();
    }
  };

  // forbid removes the functions that make code of strings, before the job. permit restores them for a job that may use
  // them.
  const refuse = () => { throw new guest.TypeError('eval is not supported'); };
  const refusing = evaluate('(f, n) => { "use strict"; const r = { [n]: function () { return f(); } }[n]; return r; }', 'airlock:eval');
  const refused = [];
  for (const name in guest.eval) refused.push([name, guest.eval[name], refusing(refuse, name)]);
  const plainEval = evaluate('(f) => ({ eval(x) { return typeof x === "string" ? f() : x; } }).eval', 'airlock:eval')(refuse);
  const hide = (owner, name, value) => { Object.defineProperty(owner, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true }); };
  const taken = [[engine.global, 'Function'], [engine.global, 'eval'], ...refused.map(([, made]) => [made.prototype, 'constructor'])]
    .map(([owner, name]) => [owner, name, Object.getOwnPropertyDescriptor(owner, name)]);
  const permit = () => { for (const [owner, name, was] of taken) Object.defineProperty(owner, name, was); };
  const forbid = () => {
    for (const [name, made, f] of refused) {
      Object.setPrototypeOf(f, Object.getPrototypeOf(made));
      Object.defineProperty(f, 'prototype', { __proto__: null, value: made.prototype, writable: false });
      Object.defineProperty(made.prototype, 'constructor', { __proto__: null, value: f, writable: name === 'Function', enumerable: false, configurable: true });
    }
    hide(engine.global, 'Function', guest.eval.Function.prototype.constructor);
    hide(engine.global, 'eval', plainEval);
  };

  // seed replaces Math.random: all processes that were made ahead would draw the same numbers. It is sfc32 of PractRand.
  const seed = evaluate(`(seed) => {
    'use strict';
    let [a, b, c, d] = seed;
    const next = () => {
      const t = (a + b | 0) + d | 0;
      d = d + 1 | 0;
      a = b ^ b >>> 9;
      b = c + (c << 3) | 0;
      c = (c << 21 | c >>> 11) + t | 0;
      return t >>> 0;
    };
    for (let i = 0; i < 12; i++) next();
    Object.defineProperty(Math, 'random', { __proto__: null, writable: true, enumerable: false, configurable: true,
      value: { random() { return (next() * 0x200000 + (next() >>> 11)) / 2 ** 53; } }.random });
  }`, 'airlock:random');

  // warm does the work of a job without visible effects, so that what it needs is compiled.
  const warm = (m) => {
    evaluate(m.text, m.name)();
    engine.check(m.text);
    guest.parse(m.context);
    seed(m.random);
    engine.drain();
    engine.memory();
  };

  forbid();
  engine.ready();
  let job = parse(readLine());
  while (job.do === 'warm') {
    warm(job);
    engine.ready();
    job = parse(readLine());
  }
  engine.begin((stack) => ask([op.sync, 'engine.trace', stack]), job);
  seed(job.random);
  if (job.eval) permit();
  const compiled = compile(job);
  const steps = {
    __proto__: null,
    start: (m) => { start(compiled, guest.parse(m.context), guest.parse(m.input), m.flags, m.limit); },
    fire: (m) => { fire(m.id); },
    settle: (m) => { settle(m.id, m.failed, m.failed ? { $error: m.error } : unpack(m)); },
    finish: (m) => { finish(m.happened ? 1 : 0); },
    ready: () => { // the end of a rehearsal
      send({ ready: 1 });
      forever();
    },
    reject: () => {
      const first = engine.rejected.shift();
      if (first === undefined) return false;
      roots[6](first.reason, first.promise);
      return true;
    },
  };
  const perform = (m) => {
    const found = steps[m.do](m);
    engine.drain();
    while (ticks) {
      ticks = false;
      roots[7]();
      engine.drain();
    }
    return found;
  };
  for (let m = job; ; m = parse(readLine())) {
    let found, finished;
    try {
      found = perform(m);
      // Code that has its value by now has nothing to wait for, so the host would ask for the end.
      if (m.do === 'start' && settled && !failed) {
        finished = 1;
        perform({ do: 'finish', happened: false });
      }
    } catch (e) {
      engine.fail(e, send);
    }
    send({ idle: found === true ? 2 : 1, finished, memory: engine.memory() });
  }
}
