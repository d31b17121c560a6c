// Tests the adapters with the published packages of the frameworks and scripted models: AIRLOCK_URL, AIRLOCK_TOKEN, and
// AIRLOCK_CLIENT, the built module beside whose folder node_modules has the packages.
import { strict as assert } from "node:assert";
import { register } from "node:module";
import process from "node:process";

const { AIRLOCK_URL: url, AIRLOCK_TOKEN: token, AIRLOCK_CLIENT: built } = process.env;
const adapter = (name) => import(new URL(`adapters/${name}.js`, built).href);
const { Airlock } = await import(built);
const airlock = Airlock.connect({ url, token });

const asked = [];
const tools = {
  weather: {
    description: "The weather of a city.",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    execute: ({ city }) => (asked.push(city), { degrees: city === "Rome" ? 21 : 12 }),
  },
};
const code = 'const [a, b] = await Promise.all(["Rome", "Oslo"].map(city => weather({ city }))); return a.degrees - b.degrees';
const want = '{"result":9}';

// codemode imports classes that only the runtime of Workers has; its tool and its types do not use them.
register("data:text/javascript," + encodeURIComponent(`
  export const resolve = (name, context, next) => name === "cloudflare:workers"
    ? { url: "data:text/javascript,export class RpcTarget {} export class WorkerEntrypoint {} export class DurableObject {}",
        shortCircuit: true }
    : next(name, context);`));

const tests = {
  async "Vercel AI SDK"() {
    const { generateText, stepCountIs } = await import("ai");
    const { MockLanguageModelV4 } = await import("ai/test");
    const { airlockTool } = await adapter("ai");
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const model = new MockLanguageModelV4({ doGenerate: [
      { content: [{ type: "tool-call", toolCallId: "1", toolName: "run_code", input: JSON.stringify({ code }) }],
        finishReason: { unified: "tool-calls" }, usage, warnings: [] },
      { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" }, usage, warnings: [] },
    ] });
    const { steps, text } = await generateText({
      model, prompt: "How much warmer is Rome?", tools: { run_code: airlockTool(airlock, { tools }) },
      stopWhen: stepCountIs(3),
    });
    assert.equal(steps[0].toolResults[0].output, want);
    assert.equal(text, "done");
    assert.match(model.doGenerateCalls[0].tools[0].description, /await weather\(.*: The weather of a city\./);
    assert.deepEqual(model.doGenerateCalls[0].tools[0].inputSchema.required, ["code"]);
  },

  async "LangChain"() {
    const { BaseChatModel } = await import("@langchain/core/language_models/chat_models");
    const { AIMessage } = await import("@langchain/core/messages");
    const { convertToOpenAITool } = await import("@langchain/core/utils/function_calling");
    const { airlockTool } = await adapter("langchain");
    class Scripted extends BaseChatModel {
      _llmType() {
        return "scripted";
      }
      bindTools(offered) {
        return this.withConfig({ offered: offered.map((tool) => convertToOpenAITool(tool)) });
      }
      async _generate(_messages, { offered }) {
        assert.deepEqual(offered[0].function.parameters.required, ["code"]);
        const message = new AIMessage({ content: "", tool_calls: [{ id: "1", name: "run_code", args: { code } }] });
        return { generations: [{ text: "", message }] };
      }
    }
    const tool = airlockTool(airlock, { tools });
    const model = new Scripted({}).bindTools([tool]);
    const call = (await model.invoke("How much warmer is Rome?")).tool_calls[0];
    const message = await tool.invoke({ ...call, type: "tool_call" });
    assert.deepEqual([message.getType(), message.tool_call_id, message.content], ["tool", "1", want]);
  },

  async "OpenAI Agents"() {
    const { Agent, Runner, Usage } = await import("@openai/agents");
    const { airlockTool } = await adapter("openai-agents");
    const requests = [];
    const model = {
      async getResponse(request) {
        requests.push(request);
        const output = requests.length === 1
          ? [{ type: "function_call", callId: "1", name: "run_code", status: "completed", arguments: JSON.stringify({ code }) }]
          : [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] }];
        return { usage: new Usage(), output };
      },
    };
    const agent = new Agent({ name: "a", model, tools: [airlockTool(airlock, { tools })] });
    const result = await new Runner({ tracingDisabled: true }).run(agent, "How much warmer is Rome?");
    assert.equal(result.finalOutput, "done");
    const answer = requests[1].input.find((item) => item.type === "function_call_result");
    assert.match(JSON.stringify(answer.output), /\{\\"result\\":9\}/);
  },

  async "Cloudflare codemode"() {
    const { createCodeTool } = await import("@cloudflare/codemode/ai");
    const { z } = await import("zod");
    const { AirlockExecutor } = await adapter("codemode");
    const executor = new AirlockExecutor(airlock, { policy: "strict" });
    const tool = createCodeTool({ executor, tools: { weather: {
      description: "The weather of a city.", inputSchema: z.object({ city: z.string() }), execute: tools.weather.execute,
    } } });
    assert.match(tool.description, /weather/);
    const run = (code) => tool.execute({ code }, { toolCallId: "1", messages: [] });
    const made = await run(`async () => {
      console.log("asking"); return (await codemode.weather({ city: "Rome" })).degrees * 2 }`);
    assert.deepEqual([made.result, made.logs], [42, ["asking"]]);
    await assert.rejects(run("async () => { throw new Error('no') }"), /no/);
    // Functions of a provider may take several parameters.
    const providers = [
      { name: "db", positionalArgs: true, fns: { add: async (a, b = 10) => a + b, fail: async () => { throw new Error("no") } } },
      { name: "codemode", fns: { weather: tools.weather.execute } },
    ];
    const positional = await executor.execute(`async () => {
      return [await db.add(1, 2), await db.add(1), await db.fail().catch((e) => e.message), await codemode.weather({ city: "Rome" })];
    };
    `, providers);
    assert.deepEqual(positional, { result: [3, 11, "tool db:fail: no", { degrees: 21 }] });
    const failed = await new AirlockExecutor(Airlock.connect({ url: "http://127.0.0.1:1", retries: 0 })).execute("1", []);
    assert.match(failed.error, /cannot be reached/);
  },

  async "zod"() {
    const { z } = await import("zod");
    const City = z.object({ name: z.string().trim().min(2), days: z.number().int().default(1) });
    const tools = { forecast: {
      description: "The forecast for a city.", inputSchema: City, outputSchema: z.object({ text: z.string() }),
      execute: async ({ name, days }) => ({ text: `${name}: ${days}` }),
    } };
    const result = await airlock.run("[await forecast({ name: ' Rome ' }), await forecast({ name: 'R' }).catch((e) => e.message)]", { tools });
    assert.deepEqual(result.value()[0], { text: "Rome: 1" });
    assert.match(result.value()[1], /name/);
  },

  async "Model Context Protocol"() {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`),
      { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
    assert.ok((await client.listTools()).tools.some((tool) => tool.name === "execute_code"));
    const result = await client.callTool({ name: "execute_code", arguments: { code: "6 * input", input: 7 } });
    assert.deepEqual([result.content[0].text, result.structuredContent.result], ['{"result":42}', 42]);
    await client.close();
  },

  async "what a model reads of failures"() {
    const { codeTool } = await adapter("code-tool");
    const { execute } = codeTool(airlock, { limits: { outputBytes: 200_000 } });
    assert.deepEqual(JSON.parse(await execute("console.log('on')\nnull.x")), {
      status: "error", error: "TypeError: Cannot read properties of null (reading 'x')", at: "line 2", output: "on\n" });
    const blocked = JSON.parse(await execute("require('child_process').execSync('id')"));
    assert.deepEqual([blocked.status, /child_process.*line 1/.test(blocked.violations.join(" "))], ["blocked", true]);
    const long = JSON.parse(await execute("'x'.repeat(50_000)"));
    assert.deepEqual([long.result.length, /return less/.test(long.truncated)], [16_000, true]);
    const control = new AbortController();
    setTimeout(() => control.abort(new Error("enough")), 50);
    await assert.rejects(execute("for (;;) await 0", control.signal), /enough/);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok   ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error?.stack ?? error}`);
  }
}
process.exit(failed);
