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

/** The longest wait that the gateway may ask for between two tries, in seconds. */
const longestWait = 60;

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
  if (s.signal !== undefined) init.signal = s.signal;
  for (let tried = 0; ; tried++) {
    let response: Response;
    try {
      response = await to.fetch(to.url + s.path, init);
    } catch (error) {
      if (s.signal?.aborted) throw s.signal.reason;
      if (!repeatable || tried >= to.retries) {
        const detail = `the gateway at ${to.url} cannot be reached: ${error instanceof Error ? error.message : error}`;
        throw new AirlockError(0, { code: "unreachable", detail }, undefined, error);
      }
      await pause(0.25 * 2 ** tried, s.signal);
      continue;
    }
    if (response.ok) return response;
    const error = await problem(response);
    const busy = error.status === 429 || (error.status === 503 && (repeatable || !uncertain.has(error.code)));
    if (!busy || tried >= to.retries || (error.retryAfter ?? 0) > longestWait) throw error;
    await pause(error.retryAfter ?? 0.25 * 2 ** tried, s.signal);
  }
}

async function problem(response: Response): Promise<AirlockError> {
  const after = Number(response.headers.get("Retry-After"));
  const document = await response.json().catch(() => ({}));
  return new AirlockError(response.status, typeof document === "object" && document !== null ? document : {},
    after > 0 ? after : undefined);
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
