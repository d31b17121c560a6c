import { Approvals } from "./approvals.js";
import { AirlockError } from "./errors.js";
import { events } from "./events.js";
import { Execution } from "./execution.js";
import { Functions, type InvokeOptions } from "./functions.js";
import { call, invalid, parse, send, type Transport } from "./http.js";
import { Records } from "./records.js";
import { body, key, type RunOptions } from "./request.js";
import { Result, type Analysis, type Log, type WireResult } from "./result.js";
import { Sessions } from "./sessions.js";
import { Toolbox, failure } from "./tools.js";

export type { InvokeOptions, RunOptions };

export interface ConnectOptions {
  /** Such as https://airlock.example.com. */
  url: string;
  /** A token, or the API key. */
  token?: string;
  /** How often a request is sent again if the gateway is busy or cannot be reached; 2. */
  retries?: number;
  /** In place of the global fetch. */
  fetch?: typeof fetch;
}

export interface SubmitOptions extends Omit<RunOptions, "tools" | "onLog"> {
  /** Where the gateway posts the result. */
  callback?: string | { url: string; secret?: string };
}

/** An event of {@link Airlock.stream}. */
export type StreamEvent<T = unknown> =
  | { type: "log"; level: Log["level"]; message: string }
  | { type: "call"; tool: string; params: unknown }
  | { type: "result"; result: Result<T> };

/** The events that have data of interest. */
const known = new Set(["chunk", "call", "complete", "paused", "error"]);

/** How often the client reconnects to a stream whose connection is lost. */
const resumptions = 5;

/** How long the cancellation of an abandoned run may take, in milliseconds. */
const abandonWithin = 5000;

/** A gateway. */
export class Airlock {
  /** Saved functions. */
  readonly functions: Functions;
  /** Executions that share one state. */
  readonly sessions: Sessions;
  /** Executions that wait for people. */
  readonly approvals: Approvals;
  /** Audit records. */
  readonly records: Records;
  private readonly transport: Transport;

  private constructor(options: ConnectOptions) {
    const url = URL.canParse(options.url) ? new URL(options.url) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "") {
      throw new TypeError(`${options.url} is not the address of a gateway; write it as https://airlock.example.com`);
    }
    this.transport = {
      url: url.href.replace(/\/+$/, ""),
      token: options.token,
      retries: options.retries ?? 2,
      fetch: options.fetch ?? ((...request) => fetch(...request)),
    };
    this.functions = new Functions(this.transport);
    this.sessions = new Sessions(this.transport);
    this.approvals = new Approvals(this.transport);
    this.records = new Records(this.transport);
  }

  /** Returns the gateway at an address. It connects with the first request. */
  static connect(options: ConnectOptions | string): Airlock {
    return new Airlock(typeof options === "string" ? { url: options } : options);
  }

  /**
   * Runs code and waits for its result. A failure of the code is a result: look at its `status`, or ask for its
   * `value()`. An {@link AirlockError} means that the request, the caller or the platform is at fault.
   */
  async run<T = unknown>(code: string, options: RunOptions = {}): Promise<Result<T>> {
    if (options.tools === undefined && options.onLog === undefined) {
      return new Result<T>(await call<WireResult>(this.transport, {
        method: "POST", path: "/api/execute", body: body(code, options), headers: key(options), signal: options.signal,
      }));
    }
    for await (const event of this.stream<T>(code, options)) {
      if (event.type === "result") return event.result;
    }
    throw new AirlockError(0, { code: "unreachable", detail: "the stream ended without a result" });
  }

  /**
   * Runs code and yields its events as they happen; the result comes last. Ending the loop cancels the run, unless
   * there is an idempotency key. The client reconnects after a lost connection.
   */
  async *stream<T = unknown>(code: string, options: RunOptions = {}): AsyncGenerator<StreamEvent<T>, void, void> {
    const toolbox = new Toolbox(options.tools ?? {});
    const request = body(code, options, toolbox);
    const ended = new AbortController();
    const signal = options.signal === undefined ? ended.signal : AbortSignal.any([options.signal, ended.signal]);
    const trouble: unknown[] = [];
    const called = new Set<number>();
    let last = "", execution = "", over = false;
    try {
      for (let lost = 0; ; lost++) {
        const headers: Record<string, string> = { Accept: "text/event-stream", ...key(options) };
        if (last !== "") headers["Last-Event-ID"] = last;
        const response = await send(this.transport, {
          method: "POST", path: "/api/execute/stream", body: request, headers, signal,
        });
        execution = response.headers.get("X-Execution-Id") ?? execution;
        try {
          for await (const event of events(response.body!)) {
            last = event.id;
            execution ||= last.split(":")[0]!;
            if (!known.has(event.name)) continue;
            const data = parse<any>(event.data); // eslint-disable-line @typescript-eslint/no-explicit-any
            switch (event.name) {
              case "chunk": {
                if (typeof data.chunk !== "string") throw invalid("has output that is not text");
                const log = { level: data.level, message: data.chunk.replace(/\n$/, "") };
                options.onLog?.(log);
                yield { type: "log", ...log };
                break;
              }
              case "call":
                if (!Number.isSafeInteger(data.seq) || typeof data.tool !== "string") throw invalid("has a call of no tool");
                if (called.has(data.seq)) break; // it is answered once
                called.add(data.seq);
                this.answer(execution, data, toolbox, signal).catch((error) => {
                  trouble.push(error);
                  ended.abort(error);
                });
                yield { type: "call", tool: data.tool, params: data.params };
                break;
              case "complete":
              case "paused":
                over = true;
                yield { type: "result", result: new Result<T>(data) };
                return;
              case "error":
                over = true;
                throw new AirlockError(Number(data.status) || 0, data);
            }
          }
        } catch (error) {
          if (options.signal?.aborted) throw options.signal.reason;
          if (trouble.length > 0) throw trouble[0];
          if (!(error instanceof TypeError) && (error as Error)?.name !== "AbortError") throw error;
          if (last === "" || lost >= resumptions) throw lostStream(error);
          continue;
        }
        if (last === "" || lost >= resumptions) throw lostStream(undefined);
      }
    } finally {
      ended.abort();
      if (!over && execution !== "" && options.idempotencyKey === undefined) await this.abandon(execution);
    }
  }

  // Cancels a run that nobody waits for any more. Without it, the gateway would keep the run for a client that comes back.
  private async abandon(execution: string): Promise<void> {
    const once = { ...this.transport, retries: 0 };
    await new Execution(once, execution).cancel(AbortSignal.timeout(abandonWithin)).catch(() => undefined);
  }

  // Calls a tool and sends the answer. Only a refusal that concerns the whole run is thrown.
  private async answer(
    id: string, call: { seq: number; tool: string; params: unknown }, toolbox: Toolbox, signal: AbortSignal,
  ): Promise<void> {
    const path = `/api/executions/${encodeURIComponent(id)}/calls/${call.seq}`;
    const reply = (text: string) => send(this.transport, { method: "POST", path, body: text, signal });
    const text = await toolbox.answer(call.tool, call.params, { signal, executionId: id, seq: call.seq });
    try {
      await reply(text);
    } catch (error) {
      if (signal.aborted) return; // the run has ended
      if (!(error instanceof AirlockError)) throw error;
      if (error.code === "call_over" || error.status === 404) return; // the run did not wait for it
      if (error.status !== 400 && error.status !== 413) throw error;
      await reply(failure(`the answer was refused: ${error.message}`)).catch(() => undefined);
    }
  }

  /** Stores code to be run soon, and returns without waiting for it. It survives a restart of the gateway. */
  async submit<T = unknown>(code: string, options: SubmitOptions = {}): Promise<Execution<T>> {
    const { callback, ...rest } = options;
    const given = callback === undefined ? {} : { callback: typeof callback === "string" ? { url: callback } : callback };
    const accepted = await call<{ id: string }>(this.transport, {
      method: "POST", path: "/api/execute", body: JSON.stringify({ ...JSON.parse(body(code, rest)), ...given }),
      headers: { "Idempotency-Key": options.idempotencyKey ?? randomKey(), Prefer: "respond-async" }, signal: options.signal,
    });
    return new Execution<T>(this.transport, accepted.id);
  }

  /** Returns the execution with an id that {@link submit} returned earlier. */
  execution<T = unknown>(id: string): Execution<T> {
    return new Execution<T>(this.transport, id);
  }

  /** Returns the verdict of the policy on code, which does not run. */
  async analyze(code: string, options: Omit<RunOptions, "tools" | "onLog"> = {}): Promise<Analysis> {
    return call<Analysis>(this.transport, {
      method: "POST", path: "/api/analyze", body: body(code, options), headers: key(options), signal: options.signal,
    });
  }
}

// crypto.randomUUID is missing on pages that were not loaded over https.
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function lostStream(cause: unknown): AirlockError {
  return new AirlockError(0, { code: "unreachable", detail: "the stream was lost" }, undefined, cause);
}
