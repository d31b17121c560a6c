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

assert.equal(await sandbox.kill(), true);
await assert.rejects(sandbox.runCode("x"), NotFoundError);
process.exit(0); // the client leaves timers behind when a call fails
