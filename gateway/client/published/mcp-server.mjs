// An MCP server over stdio, made with the official SDK of the folder in MCP_MODULES.
import { createRequire } from "node:module";

const { resolve } = createRequire(`${process.env.MCP_MODULES}/x.js`);
const { McpServer, ResourceTemplate } = await import(resolve("@modelcontextprotocol/sdk/server/mcp.js"));
const { StdioServerTransport } = await import(resolve("@modelcontextprotocol/sdk/server/stdio.js"));
const { z } = await import(resolve("zod"));

const server = new McpServer({ name: "notes", version: "1" });
const read = async (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: `about ${uri.href}` }] });
server.registerResource("today", "note:///today", { description: "The note of today." }, read);
server.registerResource("any", new ResourceTemplate("note:///{day}", { list: undefined }), {}, read);
server.registerPrompt("greet", { argsSchema: { who: z.string() } },
  ({ who }) => ({ messages: [{ role: "user", content: { type: "text", text: `Greet ${who}` } }] }));
server.registerTool("add", { inputSchema: { text: z.string() } },
  async ({ text }) => ({ content: [{ type: "text", text: `added ${text}` }] }));
await server.connect(new StdioServerTransport());
