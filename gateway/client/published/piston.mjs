// The published client of Piston runs programs on the gateway at AIRLOCK_URL.
import assert from "node:assert/strict";
import piston from "piston-api-client";

const client = new piston.NodePistonClient({ server: process.env.AIRLOCK_URL, cacheTime: 100 });

const { data: runtimes } = await client.runtimes();
assert.deepEqual(runtimes.map((r) => r.language), ["javascript", "typescript"]);

// run runs a program with the version that the gateway lists.
const run = async (language, content, more = {}) => {
  const { version } = runtimes.find((r) => r.language === language || r.aliases.includes(language));
  const { success, data } = await client.execute({ language, version, files: [{ content }], ...more });
  assert.ok(success);
  return data;
};
const pick = ({ stdout, stderr, code, signal }) => ({ stdout, stderr, code, signal });

const hello = await run("javascript", "console.log(process.argv.slice(2)); console.error('careful')", { args: ["Hello", "World"] });
assert.deepEqual(pick(hello.run), { stdout: "[ 'Hello', 'World' ]\n", stderr: "careful\n", code: 0, signal: null });
assert.equal(hello.run.output, "[ 'Hello', 'World' ]\ncareful\n");
assert.equal(hello.language, "javascript");

const typed = await run("ts", "const double = (n: number): number => 2 * n;\nprocess.stdin.on('data', (text) => console.log(double(+text)))", { stdin: "21" });
assert.deepEqual(pick(typed.run), { stdout: "42\n", stderr: "", code: 0, signal: null });
assert.equal(typed.language, "typescript");
assert.deepEqual([typed.compile.code, typed.compile.stderr, hello.compile], [0, "", undefined]);
const untyped = await run("ts", "let x: number = ;");
assert.deepEqual([untyped.compile.code, untyped.run], [1, undefined]);
assert.match(untyped.compile.stderr, /SyntaxError/);

const files = [
  { name: "main.js", content: "import { greet } from './lib/greet.js'; console.log(greet('Ada'))" },
  { name: "lib/greet.js", content: Buffer.from("export const greet = (name) => `hello ${name}`").toString("base64"), encoding: "base64" },
];
assert.equal((await run("js", "", { files })).run.stdout, "hello Ada\n");

assert.equal((await client.execute({ language: "js", version: "18.15.0", files: [{ content: "1" }] })).data.version, runtimes[0].version);

const thrown = await run("js", "console.log(1);\nthrow new TypeError('no')");
assert.equal(thrown.run.code, 1);
assert.equal(thrown.run.stdout, "1\n");
assert.match(thrown.run.stderr, /^TypeError: no\n.*file0\.code:2/s);
assert.equal((await run("js", "process.exit(7)")).run.code, 7);

const endless = await run("js", "for (;;);", { run_timeout: 200, compile_timeout: 10_000, run_memory_limit: -1, compile_memory_limit: -1 });
assert.deepEqual([endless.run.code, endless.run.signal, endless.run.status], [null, "SIGKILL", "TO"]);
const loud = await run("js", "for (;;) console.log('x'.repeat(10_000))");
assert.deepEqual([loud.run.signal, loud.run.status], ["SIGKILL", "OL"]);

// The client reports refusals as results that have only a message.
const refused = async (request) => (await client.execute({ version: "*", files: [{ content: "1" }], ...request })).data.message;
assert.equal(await refused({ language: "python" }), "python-* runtime is unknown");
assert.equal(await refused({ language: "js", run_timeout: 1e6 }), "run_timeout cannot exceed the configured limit of 15000");
assert.match(await refused({ language: "js", files: [{ content: "require('child_process').execSync('id')" }] }), /blocked by policy/);
