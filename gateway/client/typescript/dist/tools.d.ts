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
    [name: string]: ToolFunction | Tool | {
        [method: string]: ToolFunction | Tool;
    };
}
type WireTool = components["schemas"]["Tool"];
/** The tools of one run, by the name that the gateway calls them by. */
export declare class Toolbox {
    readonly wire: WireTool[];
    private readonly tools;
    constructor(tools: Tools);
    private add;
    /** Calls a tool and returns the body of the answer. */
    answer(name: string, params: unknown, context: ToolContext): Promise<string>;
}
/** The body of an answer that rejects the call. The guest sees the message, and nothing else of the error. */
export declare function failure(error: unknown): string;
export {};
