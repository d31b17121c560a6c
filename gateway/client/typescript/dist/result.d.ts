import type { components } from "./wire.js";
type Schemas = components["schemas"];
export type WireResult = Schemas["ExecutionResult"];
export type Analysis = Schemas["Analysis"];
export type Log = Schemas["Log"];
export type Limit = WireResult["limit"];
export type Status = WireResult["status"];
export interface Result<T = unknown> extends Omit<WireResult, "result"> {
    /** What the code evaluates to; null if it did not complete. */
    result: T | null;
}
/** What came of a run. A failure of the code is a result, too: look at `status`, or ask for `value()`. */
export declare class Result<T = unknown> {
    constructor(wire: WireResult);
    /** Whether the code completed. */
    get ok(): boolean;
    /** The value of the code. It throws an {@link ExecutionError}, with the limit that was hit, if there is none. */
    value(): T;
}
export {};
