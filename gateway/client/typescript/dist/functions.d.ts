import type { components } from "./wire.js";
import { type Transport } from "./http.js";
import { Result } from "./result.js";
export type Definition = components["schemas"]["FunctionDefinition"];
export type Saved = components["schemas"]["Function"];
export interface InvokeOptions {
    input?: unknown;
    context?: Record<string, unknown>;
    version?: number;
    alias?: string;
    timeout?: number;
    signal?: AbortSignal;
    idempotencyKey?: string;
}
/** Saved functions: `airlock.functions`. */
export declare class Functions {
    private readonly transport;
    constructor(transport: Transport);
    /** Saves a version. The same content again is the same version. */
    save(name: string, definition: string | Definition): Promise<Saved>;
    /** Runs a saved function and waits. Without version and alias, the latest version runs. */
    invoke<T = unknown>(name: string, options?: InvokeOptions): Promise<Result<T>>;
    /** All saved functions. */
    list(): AsyncGenerator<Saved, void, void>;
    /** Deletes a function with all its versions. */
    delete(name: string): Promise<void>;
}
