// Tests the client against a gateway, on any runtime: AIRLOCK_URL, AIRLOCK_TOKEN, and AIRLOCK_CLIENT, the built module.
import { strict as assert } from "node:assert";
import process from "node:process";
import { inWorkers, report } from "./report.mjs";

const { AIRLOCK_URL: url, AIRLOCK_TOKEN: token, AIRLOCK_CLIENT: built } = process.env;
const { Airlock, AirlockError, ExecutionError } = await import(built);
const airlock = Airlock.connect({ url, token });

const weather = async ({ city, days = 1 }) => {
  if (city === "Atlantis") throw new Error("there is no such city");
  return { city, degrees: 20 + days };
};

const refusal = async (promise) => {
  const error = await promise.then(() => undefined, (e) => e);
  assert.ok(error instanceof AirlockError, `not refused: ${error?.stack}`);
  return error;
};

const tests = {
  async "runs code"() {
    const result = await airlock.run("input.map(n => n * 2)", { input: [1, 2] });
    assert.deepEqual([result.ok, result.value(), result.status, result.limit], [true, [2, 4], "completed", null]);
    const files = { "a.js": "export default require('./b.json').n", "b.json": new TextEncoder().encode('{"n":3}') };
    assert.equal((await airlock.run("", { entry: "a.js", files })).value(), 3);
  },

  async "returns the failures of code"() {
    for (const [code, options, status, limit] of [
      ["throw new TypeError('no')", {}, "error", null],
      ["for (;;);", { timeout: 100 }, "timeout", "wall"],
      ["for (let i = 0; i < 9; i++) await weather({city: 'Rome'})", { tools: { weather }, limits: { apiCalls: 3 } },
        "error", "apiCalls"],
    ]) {
      const result = await airlock.run(code, options);
      assert.throws(() => result.value(), (e) => e instanceof ExecutionError && e.status === status && e.limit === limit, code);
    }
  },

  async "throws refusals"() {
    const error = await refusal(airlock.run("1", { policy: "none such" }));
    assert.deepEqual([error.status, error.code, error.field], [400, "invalid_request", "policy"]);
    assert.equal((await refusal(Airlock.connect({ url, token: "wrong" }).run("1"))).status, 401);
    const nobody = Airlock.connect({ url: "http://127.0.0.1:1", retries: 0 });
    assert.equal((await refusal(nobody.run("1"))).code, "unreachable");
    assert.throws(() => Airlock.connect("ftp://example.com"), TypeError);
  },

  async "passes logs on"() {
    const logs = [];
    const result = await airlock.run("console.log('a'); console.warn('b\\nc'); return 1", { onLog: (l) => logs.push(l) });
    assert.deepEqual(logs, [{ level: "log", message: "a" }, { level: "warn", message: "b\nc" }]);
    assert.equal(result.value(), 1);
  },

  async "answers calls of tools"() {
    // A schema like those of zod.
    const name = { parse: (v) => ({ name: v.name.trim() }), toJSONSchema: () => (
      { type: "object", properties: { name: { type: "string" } }, required: ["name"] }) };
    const tools = {
      weather,
      crm: { find: { description: "A customer.", inputSchema: name, execute: ({ name }) => ({ name }) } },
      odd: () => 1n, large: () => "x".repeat(3e6), nothing() {},
    };
    const run = async (code) => (await airlock.run(code, { tools })).value();
    assert.equal(await run("(await weather({city: 'Rome', days: 2})).degrees"), 22);
    assert.equal(await run("(await crm.find({name: ' Ada '})).name"), "Ada");
    assert.equal(await run("await weather({city: 'Atlantis'}).catch(e => e.message)"), "tool weather: there is no such city");
    assert.match(await run("await crm.find({}).catch(e => e.message)"), /do not fit/);
    assert.match(await run("await odd({}).catch(e => e.message)"), /BigInt/);
    assert.match(await run("await large({}).catch(e => e.message)"), /refused/);
    assert.equal(await run("await nothing()"), null);
    assert.equal(await run("(await Promise.all(Array.from({length: 30}, (_, days) => weather({city: 'Rome', days})))).length"), 30);
  },

  async "runs the steps of sessions"() {
    const session = await airlock.sessions.create({ policy: "standard", maxAge: 600_000 });
    assert.equal((await session.run("let n = input", { input: 40 })).value(), null);
    assert.equal((await session.run("n += 2")).value(), 42);
    const copy = await session.fork({ step: 1 });
    assert.equal((await copy.run("n")).value(), 40);
    assert.equal((await (await airlock.sessions.get(session.id)).run("n")).value(), 42);
    const ids = [];
    for await (const { id } of airlock.sessions.list()) ids.push(id);
    assert.ok(ids.includes(session.id) && ids.includes(copy.id));
    await session.delete();
    await copy.delete();
    assert.equal((await refusal(session.run("n"))).status, 404);
  },

  async "decides about paused executions"() {
    const ask = "return [await airlock.approve({title: 'How many?', schema: {type: 'number'}}), await airlock.approve({title: 'Sure?'})]";
    const run = await airlock.run(ask);
    assert.deepEqual([run.ok, run.status, run.waiting[0].title, run.result ?? null], [false, "paused", "How many?", null]);
    assert.throws(() => run.value(), ExecutionError);
    const found = [];
    for await (const paused of airlock.approvals.list()) found.push(paused.id);
    assert.ok(found.includes(run.id));
    assert.equal((await airlock.approvals.get(run.id)).code, ask);
    assert.equal((await refusal(airlock.approvals.decide(run.id, { seq: 7, decision: "approve" }))).code, "not_waiting");
    const waiting = airlock.execution(run.id).wait({ end: true });
    const next = await airlock.approvals.decide(run.id, { seq: 1, decision: "respond", value: 3 });
    assert.deepEqual([next.status, next.waiting[0].title], ["paused", "Sure?"]);
    assert.equal((await airlock.execution(run.id).wait()).status, "paused");
    const ended = await airlock.approvals.decide(run.id, { seq: 2, decision: "approve", reason: "why not" });
    assert.deepEqual(ended.value(), [3, true]);
    assert.deepEqual((await waiting).value(), [3, true]);
    const rejected = await airlock.run("return airlock.approve({title: 'No?'}).catch((e) => e.message)");
    assert.match((await airlock.approvals.decide(rejected.id, { seq: 1, decision: "reject", reason: "no" })).value(), /no/);
    const events = [];
    for await (const event of airlock.stream("console.log(1); await airlock.approve({title: 'Hm?'})")) events.push(event);
    assert.deepEqual(events.map((e) => e.type), ["log", "result"]);
    assert.equal(events[1].result.status, "paused");
    await airlock.execution(events[1].result.id).cancel();
  },

  async "stops a run"() {
    const cancelled = []; // the status of each answer to a cancellation
    const airlock = Airlock.connect({ url, token, fetch: async (at, init) => {
      const response = await fetch(at, init);
      if (init.method === "DELETE") cancelled.push(response.status);
      return response;
    } });
    const control = new AbortController();
    const reason = new Error("enough");
    const run = airlock.run("await never()", { policy: "agent", signal: control.signal, tools: {
      never: (_, { signal }) => new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        control.abort(reason);
      }),
    } });
    await assert.rejects(run, (e) => e === reason);
    assert.deepEqual(cancelled, [202]);
    for await (const event of airlock.stream("console.log('on'); for (;;) await 0", { policy: "agent" })) {
      assert.equal(event.message, "on");
      break; // stops the run
    }
    assert.deepEqual(cancelled, [202, 202]);
    const options = { policy: "agent", idempotencyKey: crypto.randomUUID() };
    for await (const event of airlock.stream("console.log('on'); await new Promise(r => setTimeout(r, 50)); return 6", options)) {
      assert.equal(event.message, "on");
      break; // the run goes on
    }
    assert.equal((await airlock.run("1", { onLog() {} })).value(), 1); // there is one function process
    assert.deepEqual(cancelled, [202, 202]);
  },

  async "resumes a lost stream"() {
    let connections = 0;
    const cut = async (...request) => {
      const response = await fetch(...request);
      if (!String(request[0]).endsWith("/stream") || ++connections > 1) return response;
      // The connection is lost after the first event and half of the second.
      const [head, first, second] = (await response.text()).split("\n\n");
      const pieces = [`${head}\n\n${first}\n\n${second.slice(0, 30)}`];
      const body = new ReadableStream({
        pull(to) {
          if (pieces.length > 0) to.enqueue(new TextEncoder().encode(pieces.pop()));
          else to.error(new TypeError("terminated"));
        },
      });
      return new Response(body, { headers: response.headers });
    };
    const lossy = Airlock.connect({ url, token, fetch: cut });
    const logs = [];
    const result = await lossy.run("console.log('first'); console.log('second'); return 7", { onLog: (l) => logs.push(l.message) });
    assert.deepEqual([result.value(), connections, logs], [7, 2, ["first", "second"]]);
  },

  async "tries again when the gateway is busy"() {
    let tries = 0;
    const busy = Airlock.connect({ url, token, fetch: async (...request) => {
      if (++tries > 1) return fetch(...request);
      return new Response('{"code":"rate_limited","detail":"slower"}', { status: 429, headers: { "Retry-After": "0.01" } });
    } });
    assert.deepEqual([(await busy.run("1")).value(), tries], [1, 2]);
    const lost = Airlock.connect({ url, token, fetch: async () => new Response('{"code":"unavailable"}', { status: 503 }) });
    assert.equal((await refusal(lost.run("1"))).code, "unavailable");
    const minute = Airlock.connect({ url, fetch: async () => new Response("{}", { status: 429, headers: { "Retry-After": "61" } }) });
    await assert.rejects(minute.run("1", { signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
  },

  async "says what is wrong with an address"() {
    for (const wrong of ["127.0.0.1:3000", "localhost:3000", "", "https://user@host", "https://host/?a=1"]) {
      assert.throws(() => Airlock.connect(wrong), /write it as https:\/\/airlock\.example\.com/);
    }
    if (!globalThis.process?.versions.node || globalThis.Deno || globalThis.Bun || inWorkers) return; // others do not give the reason
    assert.match((await refusal(Airlock.connect({ url: "http://127.0.0.1:2", retries: 0 }).run("1"))).message, /ECONNREFUSED/);
  },

  async "submits on a page that was not loaded over https"() {
    const had = Object.getOwnPropertyDescriptor(crypto, "randomUUID");
    Object.defineProperty(crypto, "randomUUID", { value: undefined, configurable: true });
    try {
      assert.equal((await (await airlock.submit("6 * 7")).wait()).value(), 42);
    } finally {
      if (had) Object.defineProperty(crypto, "randomUUID", had);
      else delete crypto.randomUUID;
    }
  },

  async "submits, waits and cancels"() {
    assert.equal((await (await airlock.submit("6 * 7")).wait()).value(), 42);
    const endless = await airlock.submit("for (;;);", { policy: "agent" });
    await endless.cancel();
    assert.equal((await airlock.execution(endless.id).wait()).status, "cancelled");
  },

  async "runs once for a key"() {
    const idempotencyKey = crypto.randomUUID();
    const first = await airlock.run("Math.random()", { idempotencyKey });
    assert.equal((await airlock.run("Math.random()", { idempotencyKey })).id, first.id);
  },

  async "moves aliases between versions of functions"() {
    const name = `ts-${crypto.randomUUID().slice(0, 8)}`;
    const { functions } = airlock;
    await functions.save(name, "export default () => 'old'");
    await functions.save(name, "export default () => 'new'");
    assert.equal((await functions.get(name, { version: 1 })).code, "export default () => 'old'");
    assert.deepEqual((await functions.versions(name)).map((v) => [v.version, v.aliases]), [[2, ["latest"]], [1, []]]);
    assert.match((await functions.diff(name)).files.code, /^-export default \(\) => 'old'$/m);
    assert.equal((await functions.diff(name, { from: 2, to: 2 })).same, true);
    assert.equal((await functions.setAlias(name, "live", 1)).version, 1);
    assert.equal((await functions.setAlias(name, "live", 2)).previous, 1);
    assert.equal((await functions.rollback(name, "live")).version, 1);
    assert.deepEqual((await functions.aliases(name)).map((a) => [a.alias, a.version]), [["latest", 2], ["live", 1]]);
    assert.equal((await functions.invoke(name, { alias: "live" })).value(), "old");
    assert.equal((await functions.rollback(name)).version, 1);
    await functions.deleteAlias(name, "live");
    assert.equal((await refusal(functions.get(name, { alias: "live" }))).status, 404);
    await functions.delete(name);
  },

  async "sends events and reads records"() {
    const since = new Date(Date.now() - 60_000);
    const run = await airlock.run("return (await airlock.waitForEvent('reply a/b')).text");
    assert.equal(run.status, "paused");
    assert.equal((await refusal(airlock.execution(run.id).sendEvent("reply", {}))).code, "not_waiting");
    const ended = await airlock.execution(run.id).sendEvent("reply a/b", { text: "yes" });
    assert.equal(ended.value(), "yes");
    assert.equal((await airlock.records.get(run.id)).status, "paused"); // of its first segment
    const found = [];
    for await (const record of airlock.records.list({ status: "paused", since })) found.push(record.id);
    assert.ok(found.includes(run.id), `${run.id} is not among ${found}`);
    for await (const record of airlock.records.list({ until: since })) assert.ok(record.id !== run.id);
  },

  async "saves functions and analyzes"() {
    const name = `ts-${crypto.randomUUID().slice(0, 8)}`;
    assert.equal((await airlock.functions.save(name, "export default input => input * 2")).version, 1);
    assert.equal((await airlock.functions.invoke(name, { input: 21 })).value(), 42);
    const names = [];
    for await (const f of airlock.functions.list()) names.push(f.name);
    assert.ok(names.includes(name));
    await airlock.functions.delete(name);
    assert.equal((await refusal(airlock.functions.invoke(name))).status, 404);
    assert.equal((await airlock.analyze("const = 1")).syntaxError.line, 1);
  },
};

export default report(tests);
