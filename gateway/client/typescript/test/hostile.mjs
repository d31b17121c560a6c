// Tests what a hostile gateway can do to the program that calls it: AIRLOCK_CLIENT, the built module.
import { strict as assert } from "node:assert";
import process from "node:process";
import { report } from "./report.mjs";

const { Airlock, AirlockError } = await import(process.env.AIRLOCK_CLIENT);
const wire = (more) => JSON.stringify({
  id: "exec_0123456789", status: "completed", result: 1, output: "", logs: [], error: null, exception: null, limit: null, ...more,
});
const encoder = new TextEncoder();

/** A gateway that answers with a function. Its tools' answers are kept in `answers`. */
function gateway(respond, options = {}) {
  const answers = [];
  const fetch = async (url, init) => {
    if (url.includes("/calls/")) {
      answers.push([url, JSON.parse(init.body)]);
      return new Response("{}");
    }
    return init.method === "DELETE" ? new Response("{}") : respond(url, init);
  };
  return { airlock: Airlock.connect({ url: "http://gateway.test", token: "secret", retries: 0, fetch, ...options }), answers };
}

const event = (name, data, id = "exec_1:1") => `id: ${id}\nevent: ${name}\ndata: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const stream = (...texts) => () => new Response(new ReadableStream({
  start(to) {
    for (const text of texts) to.enqueue(encoder.encode(text));
    to.close();
  },
}), { headers: { "X-Execution-Id": "exec_1" } });

/** A response without an end. */
const endless = (chunk) => () => {
  let sent = 0;
  const bytes = encoder.encode(chunk.repeat(Math.ceil((1 << 20) / chunk.length)));
  return new Response(new ReadableStream({
    pull(to) {
      sent += bytes.length;
      assert.ok(sent < 200 << 20, "it reads for ever");
      to.enqueue(bytes);
    },
  }));
};

async function refused(promise, code) {
  const error = await promise.then(() => undefined, (e) => e);
  assert.ok(error instanceof AirlockError, `not refused: ${error?.stack}`);
  assert.equal(error.code, code, error.message);
  return error;
}

const tests = {
  async "answers that are none"() {
    for (const body of ["", "null", "7", '"x"', "{", "<html>", "\0"]) {
      await refused(gateway(() => new Response(body)).airlock.run("1"), "invalid_answer");
      await refused(gateway(() => new Response(body)).airlock.execution("x").wait(), "invalid_answer");
    }
    await refused(gateway(endless("x")).airlock.run("1"), "invalid_answer");
    await refused(gateway(endless(`{"a":"x"}`)).airlock.run("1"), "invalid_answer");
    for (const detail of [null, 7, {}, { toString: 1 }]) {
      const problem = () => new Response(JSON.stringify({ detail, code: detail, field: [] }), { status: 400 });
      const error = await refused(gateway(problem).airlock.run("1"), "unknown");
      assert.equal(error.message, "the gateway answered 400");
    }
    const same = gateway(() => new Response('{"items":[1],"next":"a"}')).airlock.functions.list();
    await same.next();
    await refused(same.next(), "invalid_answer");
  },

  async "streams that are none"() {
    const run = (respond, code) => refused(gateway(respond).airlock.run("1", { onLog() {} }), code);
    await run(stream(event("chunk", "{")), "invalid_answer");
    await run(stream(event("chunk", "null")), "invalid_answer");
    await run(stream(event("chunk", { level: "log", chunk: 7 })), "invalid_answer");
    await run(stream(event("call", { seq: "../../x", tool: "a" })), "invalid_answer");
    await run(stream(event("call", { seq: 1 })), "invalid_answer");
    await run(stream(event("error", { status: {}, code: "c" })), "c");
    await run(stream("garbage\n\n", ":\n\n\n"), "unreachable");
    await run(stream(event("ping", "{")), "unreachable");
    await run(endless("data: x"), "invalid_answer");
    await run(endless("x\n"), "invalid_answer");
  },

  async "streams without an end can be left"() {
    const { airlock } = gateway(endless(event("chunk", { level: "log", chunk: "x" })));
    const stop = new AbortController();
    let lines = 0;
    const run = airlock.run("1", { signal: stop.signal, onLog: () => ++lines === 1000 && stop.abort(new Error("enough")) });
    await assert.rejects(run, /enough/);
  },

  async "results with names of the language"() {
    const { airlock } = gateway(() => new Response(`{"__proto__":{"polluted":1,"value":null},"constructor":1,"value":2,"ok":3,` +
      `"id":"x","status":"completed","result":{"__proto__":{"polluted":1},"n":1e400}}`));
    const result = await airlock.run("1");
    assert.equal(result.value().n, Infinity);
    assert.equal(result.ok, true);
    assert.equal({}.polluted, undefined);
    assert.equal(result.polluted, undefined);
  },

  async "numbers of any length"() {
    const { airlock } = gateway(() => new Response(wire().replace(`"result":1`, `"result":${"1".repeat(1e6)}`)));
    assert.equal((await airlock.run("1")).value(), Infinity);
  },

  async "calls that no code made"() {
    let ran = 0;
    const tools = { pay: () => ++ran };
    const { airlock, answers } = gateway(stream(
      event("call", { seq: 1, tool: "none", params: {} }), event("call", { seq: 2, tool: "toString", params: {} }),
      event("call", { seq: 3, tool: "__proto__", params: {} }), event("call", { seq: 4, tool: "pay", params: {} }),
      event("call", { seq: 4, tool: "pay", params: {} }), event("call", { seq: 4, tool: "pay", params: {} }, "exec_1:9"),
      event("chunk", { level: "log", chunk: "x" }), event("complete", wire()), event("call", { seq: 5, tool: "pay", params: {} }),
    ));
    assert.equal((await airlock.run("1", { tools })).value(), 1);
    await new Promise((done) => setTimeout(done, 20));
    assert.equal(ran, 1, "a call is answered once, and none after the end");
    for (const [url, body] of answers.slice(0, 3)) assert.match(body.error, /there is no tool/, url);
  },

  async "redirects"() {
    const asked = [];
    for (const status of [301, 302, 307, 308]) {
      const airlock = gateway((url, init) => {
        asked.push([url, init.redirect]);
        return new Response(null, { status, headers: { Location: "http://elsewhere.test/" } });
      }).airlock;
      assert.equal((await refused(airlock.run("1"), "unknown")).status, status);
    }
    assert.ok(asked.every(([url, how]) => url.startsWith("http://gateway.test/") && how === "manual"));
  },

  async "headers that do not come"() {
    const never = gateway((_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))));
    await assert.rejects(never.airlock.run("1", { signal: AbortSignal.timeout(50) }), /timeout|aborted/i);
    // The deadline of the client itself, fifteen minutes, passes at once.
    const original = globalThis.setTimeout;
    globalThis.setTimeout = (f, ms, ...rest) => original(f, ms >= 900_000 ? 10 : ms, ...rest);
    try {
      await refused(never.airlock.run("1"), "unreachable");
      const silent = () => new Response(new ReadableStream({ start: (to) => to.enqueue(encoder.encode("{")) }));
      await refused(gateway(silent).airlock.run("1"), "invalid_answer");
      await refused(gateway(silent).airlock.run("1", { onLog() {} }), "unreachable");
    } finally {
      globalThis.setTimeout = original;
    }
  },
};

export default report(tests);
