import { tool } from "@langchain/core/tools";
import type { Airlock } from "../airlock.js";
import { codeTool, type CodeToolOptions } from "./code-tool.js";

/** A tool of LangChain with which a model runs code: `model.bindTools([airlockTool(airlock)])`. */
export function airlockTool(airlock: Airlock, options: CodeToolOptions = {}) {
  const { name, description, parameters, execute } = codeTool(airlock, options);
  return tool(
    (input, config) => execute((input as { code: string }).code, config?.signal),
    { name, description, schema: parameters },
  );
}
