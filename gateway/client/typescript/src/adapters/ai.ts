import { jsonSchema, tool, type Tool } from "ai";
import type { Airlock } from "../airlock.js";
import { codeTool, type CodeToolOptions } from "./code-tool.js";

/** A tool of the Vercel AI SDK with which a model runs code: `tools: { run_code: airlockTool(airlock) }`. */
export function airlockTool(airlock: Airlock, options: CodeToolOptions = {}): Tool<{ code: string }, string> {
  const made = codeTool(airlock, options);
  return tool({
    description: made.description,
    inputSchema: jsonSchema<{ code: string }>(made.parameters),
    execute: ({ code }, { abortSignal }) => made.execute(code, abortSignal),
  });
}
