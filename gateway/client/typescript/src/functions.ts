import type { components } from "./wire.js";
import { call, send, type Transport } from "./http.js";
import { pages } from "./pages.js";
import { Result, type WireResult } from "./result.js";

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
export class Functions {
  constructor(private readonly transport: Transport) {}

  /** Saves a version. The same content again is the same version. */
  async save(name: string, definition: string | Definition): Promise<Saved> {
    const body = JSON.stringify(typeof definition === "string" ? { code: definition } : definition);
    return call<Saved>(this.transport, { method: "PUT", path: at(name), body });
  }

  /** Runs a saved function and waits. Without version and alias, the latest version runs. */
  async invoke<T = unknown>(name: string, options: InvokeOptions = {}): Promise<Result<T>> {
    const { signal, idempotencyKey, ...body } = options;
    return new Result<T>(await call<WireResult>(this.transport, {
      method: "POST", path: at(name) + "/invoke", body: JSON.stringify(body), signal,
      headers: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey },
    }));
  }

  /** All saved functions. */
  list(): AsyncGenerator<Saved, void, void> {
    return pages<Saved>(this.transport, "/api/functions");
  }

  /** Deletes a function with all its versions. */
  async delete(name: string): Promise<void> {
    await send(this.transport, { method: "DELETE", path: at(name) });
  }
}

function at(name: string): string {
  return `/api/functions/${encodeURIComponent(name)}`;
}
