import type { components } from "./wire.js";
import type { Limit, Result, Status } from "./result.js";

type Problem = Partial<components["schemas"]["Problem"]>;

/**
 * What the gateway refused, or why it could not be reached (then `status` is 0 and `code` is "unreachable", or
 * "invalid_answer" if the answer is not that of a gateway).
 */
export class AirlockError extends Error {
  override readonly name = "AirlockError";
  /** The HTTP status. */
  readonly status: number;
  /** Stable: compare this. */
  readonly code: string;
  /** The field of the request that is at fault. */
  readonly field: string | undefined;
  readonly requestId: string | undefined;
  /** Seconds after which another try may succeed. */
  readonly retryAfter: number | undefined;

  constructor(status: number, problem: Problem, retryAfter?: number, cause?: unknown) {
    super(text(problem.detail) ?? `the gateway answered ${status}`, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = text(problem.code) ?? "unknown";
    this.field = text(problem.field);
    this.requestId = text(problem.requestId);
    this.retryAfter = retryAfter;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A run that did not complete, as {@link Result.value} throws it. */
export class ExecutionError extends Error {
  override readonly name = "ExecutionError";
  readonly result: Result<unknown>;

  constructor(result: Result<unknown>) {
    super(result.error ?? `the execution ended as ${result.status}`);
    this.result = result;
  }

  get status(): Status {
    return this.result.status;
  }

  /** The limit that ended the run, if one did. */
  get limit(): Limit {
    return this.result.limit;
  }
}
