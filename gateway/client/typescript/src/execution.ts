import { at, read, type Paused } from "./approvals.js";
import { call, send, pause, type Transport } from "./http.js";
import { Result, type WireResult } from "./result.js";

/** An execution that was submitted and runs without its caller. */
export class Execution<T = unknown> {
  constructor(private readonly transport: Transport, readonly id: string) {}

  /** Returns the result, or undefined while the execution is queued or running. */
  async poll(signal?: AbortSignal): Promise<Result<T> | undefined> {
    const path = `/api/result/${encodeURIComponent(this.id)}`;
    const wire = await call<WireResult>(this.transport, { method: "GET", path, signal });
    if (["queued", "running"].includes(wire.status)) return undefined;
    return new Result<T>(wire);
  }

  /**
   * Waits until the execution ends or pauses, and returns its result. With `end`, it keeps waiting while the execution
   * is paused. Aborting the signal ends the wait, not the execution.
   */
  async wait(options: { signal?: AbortSignal; end?: boolean } = {}): Promise<Result<T>> {
    for (let seconds = 0.05; ; seconds = Math.min(seconds * 1.5, 5)) {
      const result = await this.poll(options.signal);
      if (result !== undefined && !(options.end && result.status === "paused")) return result;
      await pause(seconds, options.signal);
    }
  }

  /**
   * Sends an event: it ends the oldest `airlock.waitForEvent(name)` of the execution with the value. Waits up to 30
   * seconds, until the execution ends or pauses again, and returns the result or the state of the execution.
   */
  async sendEvent(name: string, value: unknown = null): Promise<Paused | Result> {
    const path = `${at(this.id)}/events/${encodeURIComponent(name)}`;
    return read(await call(this.transport, { method: "POST", path, body: JSON.stringify(value) }));
  }

  /** Cancels the execution: what waits never runs, and what runs is stopped. */
  async cancel(signal?: AbortSignal): Promise<void> {
    await send(this.transport, { method: "DELETE", path: `/api/result/${encodeURIComponent(this.id)}`, signal });
  }
}
