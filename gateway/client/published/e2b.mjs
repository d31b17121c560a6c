// The published client of E2B's code interpreter runs code on the gateway at AIRLOCK_URL, with the key AIRLOCK_TOKEN.
import assert from "node:assert/strict";
import { NotFoundError, Sandbox } from "@e2b/code-interpreter";

const url = `${process.env.AIRLOCK_URL}/api/e2b`;
const sandbox = await Sandbox.create({
  apiUrl: url, sandboxUrl: url, apiKey: process.env.AIRLOCK_TOKEN, validateApiKey: false, timeoutMs: 600_000,
});

// Declarations of a step are there for the next one.
await sandbox.runCode("let x = 1");
const next = await sandbox.runCode("x += 1; x");
assert.equal(next.text, "2");
assert.equal(next.executionCount, 2);
assert.equal(next.error, undefined);

const logs = [];
const typed = await sandbox.runCode(
  "const point: { x: number } = { x };\nconsole.log('out', point.x);\nconsole.error('careful');\npoint",
  { language: "typescript", onStdout: ({ line }) => logs.push(line), onStderr: ({ line }) => logs.push(line) },
);
assert.deepEqual(typed.logs, { stdout: ["out 2\n"], stderr: ["careful\n"] });
assert.deepEqual(logs, ["out 2\n", "careful\n"]);
assert.deepEqual(typed.results[0].json, { x: 2 });
assert.equal(typed.text, '{"x":2}');

// Output arrives while the code runs, all of it, and the timeout of the code counts from its beginning.
const seen = [];
await sandbox.runCode("console.log('first'); await new Promise((ready) => setTimeout(ready, 1000)); console.log('last')", {
  onStdout: ({ line }) => seen.push([line, Date.now()]),
});
assert.deepEqual(seen.map(([line]) => line), ["first\n", "last\n"]);
assert.ok(seen[1][1] - seen[0][1] > 500, "the first line came before the end");
const many = await sandbox.runCode("for (let i = 0; i < 3000; i++) console.log('line ' + i)");
assert.equal(many.logs.stdout.join(""), Array.from({ length: 3000 }, (_, i) => `line ${i}\n`).join(""));
assert.deepEqual(many.logs.stderr, []);
const long = await sandbox.runCode("console.log('a'); console.error('x'.repeat(20_000)); console.log('b')");
assert.deepEqual(long.logs, { stdout: ["a\n", "b\n"], stderr: ["x".repeat(20_000) + "\n"] });
await assert.rejects(sandbox.runCode("await new Promise((ready) => setTimeout(ready, 5000))", { timeoutMs: 300 }), /Execution timed out/);

// Calls at once in one context take turns.
const turns = await Promise.all([1, 2, 3, 4].map(() => sandbox.runCode("x++; await new Promise((ready) => setTimeout(ready, 50)); x")));
assert.deepEqual(turns.map(({ text }) => +text).sort(), [3, 4, 5, 6]);
await sandbox.runCode("x = 2");

const thrown = await sandbox.runCode("throw new TypeError('no')");
assert.equal(thrown.error.name, "TypeError");
assert.equal(thrown.error.value, "no");
assert.match(thrown.error.traceback, /at /);
const blocked = await sandbox.runCode("require('child_process').execSync('ls')");
assert.equal(blocked.error.name, "PolicyError");
assert.equal((await sandbox.runCode("x")).text, "2", "a step that fails changes nothing");

const context = await sandbox.createCodeContext({ language: "ts" });
assert.equal(context.language, "typescript");
await sandbox.runCode("const y: number = 5", { context });
assert.equal((await sandbox.runCode("y + 1", { context })).text, "6");
assert.equal((await sandbox.runCode("typeof y")).text, "undefined", "contexts share nothing");
assert.ok((await sandbox.listCodeContexts()).some((c) => c.id === context.id));
await sandbox.restartCodeContext(context);
assert.equal((await sandbox.runCode("typeof y", { context })).text, "undefined", "a restart forgets");
await sandbox.removeCodeContext(context);
await assert.rejects(sandbox.runCode("1", { context }), NotFoundError);

await assert.rejects(sandbox.runCode("1", { language: "python" }), /400/);
await assert.rejects(sandbox.runCode("1", { envs: { "a b": "c" } }), /400/);
assert.equal((await sandbox.runCode("process.env.A", { envs: { A: "b" } })).text, "b");
const other = await Sandbox.create({
  apiUrl: url, sandboxUrl: url, apiKey: process.env.AIRLOCK_TOKEN, validateApiKey: false, envs: { NAME: 'Ada "</script>' },
});
assert.equal((await other.runCode("process.env.NAME")).text, 'Ada "</script>');
const merged = await other.runCode("import path from 'path'; path.join(process.env.NAME.slice(0, 3), process.env.MORE)", { envs: { MORE: "x" } });
assert.equal(merged.text, "Ada/x");
const far = await other.runCode(`'${"x".repeat(3_000_000)}'.length`);
assert.equal(far.text, "3000000", "code may be as long as in other requests");
await other.kill();
assert.equal(await other.kill(), false, "a sandbox ends once");

assert.equal(await sandbox.kill(), true);
await assert.rejects(sandbox.runCode("x"), NotFoundError);
process.exit(0); // the client leaves timers behind when a call fails
