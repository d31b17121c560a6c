import type { components } from "./wire.js";
import { body, key, type RunOptions } from "./request.js";
import { call, send, type Transport } from "./http.js";
import { pages } from "./pages.js";
import { Result, type WireResult } from "./result.js";

export type SessionInfo = components["schemas"]["Session"];

/** What a step may have beside its code. Its policy is that of the session. */
export type StepOptions = Omit<RunOptions, "policy" | "tools" | "onLog">;

/** Executions that share one state: `airlock.sessions`. */
export class Sessions {
  constructor(private readonly transport: Transport) {}

  /** Creates a session. It expires after `maxAge` milliseconds, a day by default. */
  async create(options: { policy?: string; maxAge?: number } = {}): Promise<Session> {
    return this.made("POST", "/api/sessions", options);
  }

  /** Returns a session by its id. */
  async get(id: string): Promise<Session> {
    return this.made("GET", at(id));
  }

  /** Returns all sessions of the caller. */
  async *list(): AsyncGenerator<Session, void, void> {
    for await (const info of pages<SessionInfo>(this.transport, "/api/sessions")) yield new Session(this.transport, info);
  }

  private async made(method: string, path: string, given?: object): Promise<Session> {
    const body = given === undefined ? {} : { body: JSON.stringify(given) };
    return new Session(this.transport, await call<SessionInfo>(this.transport, { method, path, ...body }));
  }
}

/** A session. The top-level declarations of a step are available to the next one. */
export class Session {
  readonly id: string;

  constructor(private readonly transport: Transport, readonly info: SessionInfo) {
    this.id = info.id;
  }

  /** Runs code as the next step, and waits. A step that fails changes nothing. */
  async run<T = unknown>(code: string, options: StepOptions = {}): Promise<Result<T>> {
    return new Result<T>(await call<WireResult>(this.transport, {
      method: "POST", path: at(this.id) + "/execute", body: body(code, options), headers: key(options), signal: options.signal,
    }));
  }

  /** Creates a session from the state after a step, the last one by default. */
  async fork(options: { step?: number } = {}): Promise<Session> {
    return new Session(this.transport, await call<SessionInfo>(this.transport, {
      method: "POST", path: at(this.id) + "/fork", body: JSON.stringify(options),
    }));
  }

  /** Ends the session. */
  async delete(): Promise<void> {
    await send(this.transport, { method: "DELETE", path: at(this.id) });
  }
}

function at(id: string): string {
  return `/api/sessions/${encodeURIComponent(id)}`;
}
