// An MCP server that asks for input while its tools are called, made with the official SDK of the folder in MCP_MODULES.
// It speaks over stdio, or over HTTP on the port that is its argument.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";

const { resolve } = createRequire(`${process.env.MCP_MODULES}/x.js`);
const { McpServer } = await import(resolve("@modelcontextprotocol/sdk/server/mcp.js"));
const { StdioServerTransport } = await import(resolve("@modelcontextprotocol/sdk/server/stdio.js"));
const { StreamableHTTPServerTransport } = await import(resolve("@modelcontextprotocol/sdk/server/streamableHttp.js"));

function shop() {
  const server = new McpServer({ name: "shop", version: "1" });
  const ask = (field) => server.server.elicitInput({
    message: `Which ${field}?`,
    requestedSchema: { type: "object", properties: { [field]: { type: "string" } }, required: [field] },
  });
  const text = (text) => ({ content: [{ type: "text", text }] });
  let orders = 0;
  server.registerTool("order", {}, async () => {
    const color = await ask("color");
    const size = color.action === "accept" ? await ask("size") : color;
    if (size.action !== "accept") return text(`not ordered: ${color.action}, ${size.action}`);
    return text(`order ${++orders}: ${color.content.color}, ${size.content.size}`);
  });
  server.registerTool("gift", {}, async () => {
    const paper = await ask("paper").catch(() => ({ content: { paper: "brown" } }));
    return text(`wrapped in ${paper.content.paper}`);
  });
  return server;
}

const port = process.argv[2];
if (port === undefined) {
  await shop().connect(new StdioServerTransport());
} else {
  const sessions = new Map();
  createServer(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await shop().connect(transport);
    }
    await transport.handleRequest(request, response);
  }).listen(Number(port), "127.0.0.1");
}
