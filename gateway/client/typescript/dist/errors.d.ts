import type { components } from "./wire.js";
import type { Limit, Result, Status } from "./result.js";
type Problem = Partial<components["schemas"]["Problem"]>;
/** What the gateway refused, or why it could not be reached (then `status` is 0 and `code` is "unreachable"). */
export declare class AirlockError extends Error {
    readonly name = "AirlockError";
    /** The HTTP status. */
    readonly status: number;
    /** Stable: compare this. */
    readonly code: string;
    /** The field of the request that is at fault. */
    readonly field: string | undefined;
    readonly requestId: string | undefined;
    /** Seconds after which another try may succeed. */
    readonly retryAfter: number | undefined;
    constructor(status: number, problem: Problem, retryAfter?: number, cause?: unknown);
}
/** A run that did not complete, as {@link Result.value} throws it. */
export declare class ExecutionError extends Error {
    readonly name = "ExecutionError";
    readonly result: Result<unknown>;
    constructor(result: Result<unknown>);
    get status(): Status;
    /** The limit that ended the run, if one did. */
    get limit(): Limit;
}
export {};
