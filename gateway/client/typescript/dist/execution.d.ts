import { type Transport } from "./http.js";
import { Result } from "./result.js";
/** An execution that was submitted and runs without its caller. */
export declare class Execution<T = unknown> {
    private readonly transport;
    readonly id: string;
    constructor(transport: Transport, id: string);
    /** Its result, or undefined while it is queued or running. */
    poll(signal?: AbortSignal): Promise<Result<T> | undefined>;
    /** Waits for the result. Aborting the signal ends the wait, not the execution. */
    wait(options?: {
        signal?: AbortSignal;
    }): Promise<Result<T>>;
    /** Cancels the execution: what waits never runs, and what runs is stopped. */
    cancel(): Promise<void>;
}
