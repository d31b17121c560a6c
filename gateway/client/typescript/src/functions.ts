import type { components } from "./wire.js";
import { call, send, type Transport } from "./http.js";
import { items, pages, query } from "./pages.js";
import { Result, type WireResult } from "./result.js";

export type Definition = components["schemas"]["FunctionDefinition"];
export type Saved = components["schemas"]["Function"];
export type Complete = components["schemas"]["FunctionWithCode"];
export type Version = components["schemas"]["FunctionVersion"];
export type Alias = components["schemas"]["FunctionAlias"];
export type Diff = components["schemas"]["FunctionDiff"];

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

  /** Saves a version. Saving the same content again returns the existing version. */
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

  /** Returns all saved functions. */
  list(): AsyncGenerator<Saved, void, void> {
    return pages<Saved>(this.transport, "/api/functions");
  }

  /** Returns a function and what one of its versions runs: the latest, unless `version` or `alias` names another. */
  async get(name: string, options: { version?: number; alias?: string } = {}): Promise<Complete> {
    return call(this.transport, { method: "GET", path: at(name) + query(options) });
  }

  /** Deletes a function with all its versions. */
  async delete(name: string): Promise<void> {
    await send(this.transport, { method: "DELETE", path: at(name) });
  }

  /** Returns the versions of a function, newest first. */
  async versions(name: string): Promise<Version[]> {
    return items<Version>(this.transport, at(name, "versions"));
  }

  /** Compares two versions: `to` is the latest by default, and `from` the one before it. */
  async diff(name: string, options: { from?: number; to?: number } = {}): Promise<Diff> {
    return call<Diff>(this.transport, { method: "GET", path: at(name, "diff") + query(options) });
  }

  /** Returns the aliases of a function, sorted by name. */
  async aliases(name: string): Promise<Alias[]> {
    return items<Alias>(this.transport, at(name, "aliases"));
  }

  /** Makes or moves an alias. */
  async setAlias(name: string, alias: string, version: number): Promise<Alias> {
    return call<Alias>(this.transport, { method: "PUT", path: at(name, "aliases", alias), body: JSON.stringify({ version }) });
  }

  /** Deletes an alias, and not the version that it points at. */
  async deleteAlias(name: string, alias: string): Promise<void> {
    await send(this.transport, { method: "DELETE", path: at(name, "aliases", alias) });
  }

  /** Points an alias at the version that it pointed at before. */
  async rollback(name: string, alias = "latest"): Promise<Alias> {
    return call<Alias>(this.transport, { method: "POST", path: at(name, "rollback"), body: JSON.stringify({ alias }) });
  }
}

function at(name: string, ...rest: string[]): string {
  return ["/api/functions", ...[name, ...rest].map(encodeURIComponent)].join("/");
}
