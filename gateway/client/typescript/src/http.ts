import { AirlockError } from "./errors.js";

export interface Transport {
  url: string;
  token: string | undefined;
  fetch: typeof fetch;
  retries: number;
}

export interface Send {
  method: string;
  path: string;
  body?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/** The longest wait that the gateway may ask for between two tries, in seconds: a limit for a minute asks for up to 61. */
const longestWait = 90;

/** The longest response, or event of a stream, in UTF-16 code units or bytes. */
export const longestAnswer = 64 << 20;

/** How long a response may take, and how long a stream may be silent, in milliseconds. A run waits for its place first. */
export const answerWithin = 900_000;

/** The codes of problems after which code may have run. */
const uncertain = new Set(["unavailable", "unrecorded", "unknown"]);

/**
 * Sends a request, and again if the gateway is busy (429, 503), after the time that it asks for. If the connection is
 * lost, or code may have run, it is sent again only if it carries an idempotency key or is no POST.
 */
export async function send(to: Transport, s: Send): Promise<Response> {
  const headers: Record<string, string> = { ...s.headers };
  if (s.body !== undefined) headers["Content-Type"] = "application/json";
  if (to.token !== undefined) headers["Authorization"] = `Bearer ${to.token}`;
  const repeatable = s.method !== "POST" || headers["Idempotency-Key"] !== undefined;
  const init: RequestInit = { method: s.method, headers, redirect: "manual" };
  if (s.body !== undefined) init.body = s.body;
  for (let tried = 0; ; tried++) {
    let response: Response;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new Error("it does not answer")), answerWithin);
    init.signal = s.signal === undefined ? deadline.signal : AbortSignal.any([s.signal, deadline.signal]);
    try {
      response = await to.fetch(to.url + s.path, init);
    } catch (error) {
      if (s.signal?.aborted) throw s.signal.reason;
      if (!repeatable || tried >= to.retries) {
        const detail = `the gateway at ${to.url} cannot be reached: ${why(error)}`;
        throw new AirlockError(0, { code: "unreachable", detail }, undefined, error);
      }
      await pause(0.25 * 2 ** tried, s.signal);
      continue;
    } finally {
      clearTimeout(timer);
    }
    if (response.ok) return response;
    const error = await problem(response);
    const busy = error.status === 429 || (error.status === 503 && (repeatable || !uncertain.has(error.code)));
    if (!busy || tried >= to.retries || (error.retryAfter ?? 0) > longestWait) throw error;
    await pause(error.retryAfter ?? 0.25 * 2 ** tried, s.signal);
  }
}

/** The message of a failed fetch. That of Node.js is in its cause. */
function why(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error.cause instanceof Error && error.cause.message) || error.message;
}

/** Sends a request and returns the JSON of its response, which is an object. */
export async function call<T extends object>(to: Transport, s: Send): Promise<T> {
  return read<T>(await send(to, s), s.signal);
}

/** Reads a response, within the bounds of one. */
async function read<T extends object>(response: Response, signal?: AbortSignal): Promise<T> {
  const decoder = new TextDecoder();
  let text = "", late = false;
  const reader = response.body?.getReader();
  const timer = setTimeout(() => {
    late = true;
    void reader?.cancel().catch(() => undefined);
  }, answerWithin);
  try {
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {};
      if (late) throw invalid("does not end");
      if (done) break;
      text += decoder.decode(value, { stream: true });
      if (text.length > longestAnswer) throw invalid("is too long");
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof AirlockError) throw error;
    throw new AirlockError(0, { code: "unreachable", detail: "the gateway's answer was lost" }, undefined, error);
  } finally {
    clearTimeout(timer);
    await reader?.cancel().catch(() => undefined);
  }
  return parse<T>(text);
}

/** The object of a JSON text. */
export function parse<T extends object>(text: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid("is not JSON");
  }
  if (typeof value !== "object" || value === null) throw invalid("is not an object");
  return value as T;
}

/** The error about an answer that no gateway sends. */
export function invalid(how: string): AirlockError {
  return new AirlockError(0, { code: "invalid_answer", detail: `the gateway's answer ${how}` });
}

async function problem(response: Response): Promise<AirlockError> {
  const after = Number(response.headers.get("Retry-After"));
  const document = await read<object>(response).catch(() => ({}));
  return new AirlockError(response.status, document, after > 0 ? after : undefined);
}

/** Waits for a number of seconds, or throws the reason of the signal. */
export async function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
