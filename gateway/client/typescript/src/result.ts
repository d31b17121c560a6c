import type { components } from "./wire.js";
import { ExecutionError } from "./errors.js";

type Schemas = components["schemas"];

export type WireResult = Schemas["ExecutionResult"];
export type Analysis = Schemas["Analysis"];
export type Log = Schemas["Log"];
export type Limit = WireResult["limit"];
export type Status = WireResult["status"];

// The fields of the wire, and `result` with the type of the caller.
export interface Result<T = unknown> extends Omit<WireResult, "result"> {
  /** What the code evaluates to; null if it did not complete. */
  result: T | null;
}

/** The outcome of a run. A failure of the code is a result, too: look at `status`, or ask for `value()`. */
export class Result<T = unknown> {
  constructor(wire: WireResult) {
    Object.assign(this, { result: null, output: "", logs: [], error: null, exception: null, limit: null });
    for (const [name, value] of Object.entries(wire)) {
      if (!(name in Result.prototype)) Object.assign(this, { [name]: value }); // such as __proto__ and value
    }
  }

  /** Whether the code completed. */
  get ok(): boolean {
    return this.status === "completed";
  }

  /** The value of the code. It throws an {@link ExecutionError}, with the limit that was hit, if there is none. */
  value(): T {
    if (!this.ok) throw new ExecutionError(this as Result<unknown>);
    return this.result as T;
  }
}
