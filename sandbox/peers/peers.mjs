// Reads "NAME COUNT" lines, runs that peer COUNT times and answers with one line: the microseconds of each, as JSON.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import ivm from 'isolated-vm';
import { getQuickJS, newQuickJSWASMModule } from 'quickjs-emscripten';

const code = readFileSync(new URL('./script.js', import.meta.url), 'utf8');
const shared = await getQuickJS();

const evaluate = (module) => {
  const context = module.newContext();
  try {
    const value = context.unwrapResult(context.evalCode(code));
    const text = context.getString(value);
    value.dispose();
    return text;
  } finally {
    context.dispose();
  }
};

const peers = {
  async 'isolated-vm'() {
    const isolate = new ivm.Isolate({ memoryLimit: 64 });
    try {
      const context = await isolate.createContext();
      const script = await isolate.compileScript(code);
      return await script.run(context, { timeout: 5000 });
    } finally {
      isolate.dispose();
    }
  },
  async 'quickjs-emscripten-context'() { return evaluate(shared); },
  async 'quickjs-emscripten-instance'() { return evaluate(await newQuickJSWASMModule()); },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, count] = line.split(' ');
  const times = [];
  for (let i = 0; i < +count; i++) {
    const start = process.hrtime.bigint();
    const text = await peers[name]();
    times.push(Number(process.hrtime.bigint() - start) / 1000);
    if (JSON.parse(text).fib !== 55) throw new Error(`${name} gave ${text}`);
  }
  console.log(JSON.stringify(times));
}
