import type { components } from "./wire.js";
import { send, type Transport } from "./http.js";
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
    const response = await send(this.transport, { method: "PUT", path: at(name), body });
    return (await response.json()) as Saved;
  }

  /** Runs a saved function and waits. Without version and alias, the latest version runs. */
  async invoke<T = unknown>(name: string, options: InvokeOptions = {}): Promise<Result<T>> {
    const { signal, idempotencyKey, ...body } = options;
    const response = await send(this.transport, {
      method: "POST", path: at(name) + "/invoke", body: JSON.stringify(body), signal,
      headers: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey },
    });
    return new Result<T>((await response.json()) as WireResult);
  }

  /** All saved functions. */
  async *list(): AsyncGenerator<Saved, void, void> {
    for (let cursor = ""; ; ) {
      const path = "/api/functions" + (cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`);
      const response = await send(this.transport, { method: "GET", path });
      const page = (await response.json()) as { items: Saved[]; next: string | null };
      yield* page.items;
      if (!page.next) return;
      cursor = page.next;
    }
  }

  /** Deletes a function with all its versions. */
  async delete(name: string): Promise<void> {
    await send(this.transport, { method: "DELETE", path: at(name) });
  }
}

function at(name: string): string {
  return `/api/functions/${encodeURIComponent(name)}`;
}
