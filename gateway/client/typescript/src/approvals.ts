import type { components } from "./wire.js";
import { call, type Transport } from "./http.js";
import { pages } from "./pages.js";
import { Result, type WireResult } from "./result.js";

export type Paused = components["schemas"]["PausedExecution"];
export type Waiting = components["schemas"]["Waiting"];

/** A decision about an operation that an execution waits for: `seq` is that of a {@link Waiting}. */
export interface Decision {
  seq: number;
  /** edit calls the tool with `args`; the `value` of respond stands for its answer. */
  decision: "approve" | "edit" | "respond" | "reject";
  args?: unknown;
  value?: unknown;
  reason?: string;
}

/** Executions that wait for people: `airlock.approvals`. Deciding needs a token with the scope approve. */
export class Approvals {
  constructor(private readonly transport: Transport) {}

  /** Returns the executions that have paused: all that the caller may decide about, otherwise the caller's own. */
  list(): AsyncGenerator<Paused, void, void> {
    return pages<Paused>(this.transport, "/api/executions?status=paused");
  }

  /** Returns an execution that has paused, with its code, or its result if it has ended. */
  async get(id: string): Promise<Paused | Result> {
    return read(await call(this.transport, { method: "GET", path: at(id) }));
  }

  /**
   * Decides about what an execution waits for. It waits up to 30 seconds, until the execution ends or pauses again, and
   * returns the result or the state of the execution.
   */
  async decide(id: string, ...decisions: Decision[]): Promise<Paused | Result> {
    return read(await call(this.transport, { method: "POST", path: at(id) + "/resume", body: JSON.stringify({ decisions }) }));
  }
}

/** Reads an answer about an execution that may have ended. */
export function read(wire: Paused | WireResult): Paused | Result {
  return "waiting" in wire && "segment" in wire ? (wire as Paused) : new Result(wire as WireResult);
}

/** The path of an execution that waits. */
export function at(id: string): string {
  return `/api/executions/${encodeURIComponent(id)}`;
}
