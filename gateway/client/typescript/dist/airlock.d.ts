import type { components } from "./wire.js";
import { Execution } from "./execution.js";
import { Functions, type InvokeOptions } from "./functions.js";
import { Result, type Analysis, type Log } from "./result.js";
import { type Tools } from "./tools.js";
export type { InvokeOptions };
export interface ConnectOptions {
    /** Such as https://airlock.example.com. */
    url: string;
    /** A token, or the API key. */
    token?: string;
    /** How often a request is sent again if the gateway is busy or cannot be reached; 2. */
    retries?: number;
    /** In place of the global fetch. */
    fetch?: typeof fetch;
}
/** What a run may have beside its code. Limits only lower those of the policy. */
export interface RunOptions {
    /** The global `input`. */
    input?: unknown;
    /** Each entry becomes a global. */
    context?: Record<string, unknown>;
    /** Files of the execution by relative path: text, or bytes. */
    files?: Record<string, string | Uint8Array>;
    /** The file that runs in place of the code, which is then "". */
    entry?: string;
    language?: "javascript" | "typescript";
    /** The tier: strict, standard (default), extended, agent, or one of the deployment. */
    policy?: string;
    /** Wall time in milliseconds. */
    timeout?: number;
    /** Such as "32mb". */
    memory?: string;
    limits?: components["schemas"]["Limits"];
    seed?: number;
    engine?: "quickjs" | "v8" | "jsc";
    priority?: "low" | "normal" | "high";
    hosts?: string[];
    secrets?: string[];
    /** Functions of this program that the code may call. */
    tools?: Tools;
    /** Receives each console call while the code runs. */
    onLog?: (log: Pick<Log, "level" | "message">) => void;
    /** Aborting it stops the run, or only the wait for it if there is an idempotency key. */
    signal?: AbortSignal;
    /** Requests with the same key run once. With a key, a request whose connection is lost is sent again. */
    idempotencyKey?: string;
}
export interface SubmitOptions extends Omit<RunOptions, "tools" | "onLog"> {
    /** Where the gateway posts the result. */
    callback?: string | {
        url: string;
        secret?: string;
    };
}
/** An event of {@link Airlock.stream}. */
export type StreamEvent<T = unknown> = {
    type: "log";
    level: Log["level"];
    message: string;
} | {
    type: "call";
    tool: string;
    params: unknown;
} | {
    type: "result";
    result: Result<T>;
};
/** A gateway. */
export declare class Airlock {
    /** Saved functions. */
    readonly functions: Functions;
    private readonly transport;
    private constructor();
    /** Returns the gateway at an address. It connects with the first request. */
    static connect(options: ConnectOptions | string): Airlock;
    /**
     * Runs code and waits for its result. A failure of the code is a result: look at its `status`, or ask for its
     * `value()`. An {@link AirlockError} means that the request, the caller or the platform is at fault.
     */
    run<T = unknown>(code: string, options?: RunOptions): Promise<Result<T>>;
    /**
     * Runs code and yields what happens as it happens; the result comes last. Ending the loop stops the run. A lost
     * connection is taken up again.
     */
    stream<T = unknown>(code: string, options?: RunOptions): AsyncGenerator<StreamEvent<T>, void, void>;
    private answer;
    /** Stores code to be run soon, and returns without waiting for it. It survives a restart of the gateway. */
    submit<T = unknown>(code: string, options?: SubmitOptions): Promise<Execution<T>>;
    /** The execution of an id, which an earlier {@link submit} returned. */
    execution<T = unknown>(id: string): Execution<T>;
    /** Returns the verdict of the policy on code, which does not run. */
    analyze(code: string, options?: Omit<RunOptions, "tools" | "onLog">): Promise<Analysis>;
}
