// The client of the official SDK, of the folder in MCP_MODULES, reads the tools, resources and prompts of the server
// that is attached as notes, over the gateway at AIRLOCK_URL and the proxy AIRLOCK_PROGRAM.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const { resolve } = createRequire(`${process.env.MCP_MODULES}/x.js`);
const { Client } = await import(resolve("@modelcontextprotocol/sdk/client/index.js"));
const { StdioClientTransport } = await import(resolve("@modelcontextprotocol/sdk/client/stdio.js"));
const { StreamableHTTPClientTransport } = await import(resolve("@modelcontextprotocol/sdk/client/streamableHttp.js"));

const url = process.env.AIRLOCK_URL;
for (const transport of [
  new StreamableHTTPClientTransport(new URL(`${url}/mcp`)),
  new StdioClientTransport({
    command: process.env.AIRLOCK_PROGRAM, args: ["mcp", "--server", url], env: process.env,
  }),
]) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const { resources } = await client.listResources();
  assert.deepEqual(resources, [
    { uri: "airlock://notes/note:///today", name: "notes:today", description: "The note of today." },
  ]);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates, [{ uriTemplate: "airlock://notes/note:///{day}", name: "notes:any" }]);
  assert.deepEqual((await client.readResource({ uri: "airlock://notes/note:///monday" })).contents, [
    { uri: "airlock://notes/note:///monday", mimeType: "text/plain", text: "about note:///monday" },
  ]);
  await assert.rejects(client.readResource({ uri: "airlock://other/note:///today" }), /not found/);
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts, [{ name: "notes:greet", arguments: [{ name: "who", required: true }] }]);
  const { messages } = await client.getPrompt({ name: "notes:greet", arguments: { who: "Ada" } });
  assert.equal(messages[0].content.text, "Greet Ada");
  const result = await client.callTool({ name: "execute_code", arguments: {
    code: "[await notes.add({ text: 'x' }), (await notes.resources_read({ uri: 'note:///today' })).contents[0].text]",
  } });
  assert.deepEqual(result.structuredContent.result, ["added x", "about note:///today"]);
  await client.close();
}
