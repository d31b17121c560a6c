import type { components } from "./wire.js";

/** A JSON Schema, or a schema of zod 4 (or any library) with `toJSONSchema()`, or of zod 3 beside a converter. */
export type Schema = object;

export interface ToolContext {
  /** Ends when the run does. */
  signal: AbortSignal;
  executionId: string;
  /** The number of the call within its run. */
  seq: number;
}

// Parameters are what the code of the guest passes, so a function declares what it expects.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type ToolFunction = (params: any, context: ToolContext) => unknown;

export interface Tool {
  description?: string;
  /** Of the parameters. The gateway refuses calls that do not fit; a schema with `parse` also transforms them. */
  inputSchema?: Schema;
  /** Of the value. */
  outputSchema?: Schema;
  execute: ToolFunction;
}

/** Functions that the code may call: `{weather: fn}` as `weather(params)`, `{crm: {find: fn}}` as `crm.find(params)`. */
export interface Tools {
  [name: string]: ToolFunction | Tool | { [method: string]: ToolFunction | Tool };
}

type WireTool = components["schemas"]["Tool"];

interface Parser {
  parse(value: unknown): unknown;
}

/** The tools of one run, by the name that the gateway calls them by. */
export class Toolbox {
  readonly wire: WireTool[] = [];
  private readonly tools = new Map<string, Tool>();

  constructor(tools: Tools) {
    for (const [name, entry] of Object.entries(tools)) {
      if (isTool(entry)) {
        this.add(name, entry);
        continue;
      }
      for (const [method, tool] of Object.entries(entry)) this.add(`${name}:${method}`, tool as ToolFunction | Tool);
    }
  }

  private add(name: string, entry: ToolFunction | Tool): void {
    if (!isTool(entry)) throw new TypeError(`the tool ${name} must be a function, or an object with execute`);
    const tool: Tool = typeof entry === "function" ? { execute: entry } : entry;
    const wire: WireTool = { name, via: "caller" };
    if (tool.description !== undefined) wire.description = tool.description;
    if (tool.inputSchema !== undefined) wire.inputSchema = jsonSchema(name, tool.inputSchema, "input");
    if (tool.outputSchema !== undefined) wire.outputSchema = jsonSchema(name, tool.outputSchema, "output");
    this.wire.push(wire);
    this.tools.set(name, tool);
  }

  /** Calls a tool and returns the body of the answer. */
  async answer(name: string, params: unknown, context: ToolContext): Promise<string> {
    try {
      const tool = this.tools.get(name);
      if (tool === undefined) throw new Error(`there is no tool ${name}`);
      const parser = tool.inputSchema as Partial<Parser> | undefined;
      const value = await tool.execute(typeof parser?.parse === "function" ? parser.parse(params) : params, context);
      return JSON.stringify({ value: value === undefined ? null : value });
    } catch (error) {
      return failure(error);
    }
  }
}

/** The body of an answer that rejects the call. The guest sees the message, and nothing else of the error. */
export function failure(error: unknown): string {
  let text = String((error instanceof Error ? error.message : error) || "the tool failed");
  while (new TextEncoder().encode(text).length > 1000) text = text.slice(0, Math.floor(text.length * 0.9));
  return JSON.stringify({ error: text });
}

function isTool(entry: unknown): entry is ToolFunction | Tool {
  return typeof entry === "function" || (typeof entry === "object" && entry !== null &&
    typeof (entry as Partial<Tool>).execute === "function");
}

// zod is not imported: its schemas are known by what they can do. Parameters are described as they are before parsing, so
// that those with a default may be left out.
function jsonSchema(name: string, schema: Schema, io: "input" | "output"): Record<string, never> {
  const made = schema as { toJSONSchema?: (options: object) => object; parse?: unknown };
  if (typeof made.toJSONSchema === "function") schema = made.toJSONSchema({ io });
  else if (typeof made.parse === "function") {
    throw new TypeError(`the schema of ${name} cannot be written as JSON Schema; use zod 4.3 or later, or z.toJSONSchema(schema)`);
  }
  return schema as Record<string, never>;
}
