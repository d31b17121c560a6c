import { send, pause, type Transport } from "./http.js";
import { Result, type WireResult } from "./result.js";

/** An execution that was submitted and runs without its caller. */
export class Execution<T = unknown> {
  constructor(private readonly transport: Transport, readonly id: string) {}

  /** Its result, or undefined while it is queued or running. */
  async poll(signal?: AbortSignal): Promise<Result<T> | undefined> {
    const response = await send(this.transport, { method: "GET", path: `/api/result/${encodeURIComponent(this.id)}`, signal });
    const wire = (await response.json()) as { status: string };
    if (wire.status === "queued" || wire.status === "running") return undefined;
    return new Result<T>(wire as WireResult);
  }

  /** Waits for the result. Aborting the signal ends the wait, not the execution. */
  async wait(options: { signal?: AbortSignal } = {}): Promise<Result<T>> {
    for (let seconds = 0.05; ; seconds = Math.min(seconds * 1.5, 5)) {
      const result = await this.poll(options.signal);
      if (result !== undefined) return result;
      await pause(seconds, options.signal);
    }
  }

  /** Cancels the execution: what waits never runs, and what runs is stopped. */
  async cancel(signal?: AbortSignal): Promise<void> {
    await send(this.transport, { method: "DELETE", path: `/api/result/${encodeURIComponent(this.id)}`, signal });
  }
}
