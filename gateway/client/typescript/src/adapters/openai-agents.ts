import { tool } from "@openai/agents";
import type { Airlock } from "../airlock.js";
import { codeTool, type CodeToolOptions } from "./code-tool.js";

/** A tool of the OpenAI Agents SDK with which a model runs code: `new Agent({ tools: [airlockTool(airlock)] })`. */
export function airlockTool(airlock: Airlock, options: CodeToolOptions = {}) {
  const { name, description, parameters, execute } = codeTool(airlock, options);
  return tool({
    name, description, parameters, strict: true,
    execute: (input, _context, details) => execute((input as { code: string }).code, details?.signal),
  });
}
