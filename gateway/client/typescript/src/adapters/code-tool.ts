import type { Airlock, RunOptions } from "../airlock.js";
import { Toolbox } from "../tools.js";

/** What every run of a model's code has. `tools` are functions of this program that the code may call. */
export interface CodeToolOptions extends Omit<RunOptions, "input" | "signal" | "onLog" | "idempotencyKey" | "entry"> {
  /** The name of the tool; `run_code`. */
  name?: string;
  /** In place of the description that the options make. */
  description?: string;
}

/** A tool with which a model runs code, independent of any framework. */
export interface CodeTool {
  name: string;
  description: string;
  parameters: {
    type: "object";
    properties: { code: { type: "string"; description: string } };
    required: ["code"];
    additionalProperties: false;
  };
  /** Runs the code and returns what the model reads: JSON with the result and the console's output, or why it failed. */
  execute(code: string, signal?: AbortSignal): Promise<string>;
}

/** The most characters of a result, and of an output, that the model reads. */
const shown = 16_000;
/** The most reasons of a refusal that the model reads. */
const reasons = 10;

export function codeTool(airlock: Airlock, options: CodeToolOptions = {}): CodeTool {
  const { name = "run_code", description = describe(options), ...run } = options;
  return {
    name, description,
    parameters: {
      type: "object",
      properties: { code: { type: "string", description: "Statements with return and top-level await, or one expression." } },
      required: ["code"],
      additionalProperties: false,
    },
    async execute(code, signal) {
      const r = await airlock.run(code, signal === undefined ? run : { ...run, signal });
      const value = JSON.stringify(r.result) ?? "null";
      const line = r.exception?.line;
      return JSON.stringify({
        ...(r.ok ? { result: value.length > shown ? value.slice(0, shown) : r.result } : { status: r.status, error: r.error }),
        ...(line ? { at: `line ${line}` } : {}),
        ...(r.status === "blocked" && Array.isArray(r.violations) ? { violations: r.violations.slice(0, reasons) } : {}),
        ...(r.limit === null ? {} : { limit: r.limit }),
        ...(r.output === "" ? {} : { output: r.output.slice(0, shown) }),
        ...(Math.max(value.length, r.output.length) > shown ? { truncated: `cut after ${shown} characters; return less` } : {}),
      });
    },
  };
}

function describe(options: CodeToolOptions): string {
  const tools = new Toolbox(options.tools ?? {}).wire.map((tool) => {
    const schema = tool.inputSchema === undefined ? "params" : JSON.stringify(tool.inputSchema);
    return `- await ${tool.name.replace(":", ".")}(${schema})${tool.description === undefined ? "" : `: ${tool.description}`}`;
  });
  return `Runs ${options.language === "typescript" ? "TypeScript" : "JavaScript"} in a fresh sandbox and returns its value. ` +
    "Print with console.log. Nothing is kept between calls." +
    (tools.length === 0 ? "" : ` One script can call several of these functions:\n${tools.join("\n")}`);
}
