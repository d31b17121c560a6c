/** The request's input; null when there is none. Every entry of the request's context is a global of its own name too. */
declare const input: any;
/** The result, where the code assigns it and returns nothing. */
declare var output: any;
/** Lines that the caller sees as they are printed. */
declare const console: { [level in "log" | "info" | "warn" | "error" | "debug"]: (...values: any[]) => void };
declare function setTimeout(callback: (...args: any[]) => void, ms?: number, ...args: any[]): number;
declare function clearTimeout(id?: number): void;
declare function setInterval(callback: (...args: any[]) => void, ms?: number, ...args: any[]): number;
declare function clearInterval(id?: number): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T): T;
declare function atob(base64: string): string;
declare function btoa(bytes: string): string;
/** As in browsers; beside them the language itself (ES2023), Event, EventTarget, FormData, URLPattern, File, crypto.subtle and the streams of the web. */
declare class URL { constructor(url: string, base?: string | URL); href: string; searchParams: URLSearchParams; }
declare class URLSearchParams { constructor(init?: string | Record<string, string>); get(name: string): string | null; }
declare class TextEncoder { encode(text?: string): Uint8Array; }
declare class TextDecoder { constructor(label?: string); decode(bytes?: ArrayBuffer | ArrayBufferView): string; }
declare class AbortSignal { static timeout(ms: number): AbortSignal; aborted: boolean; reason: any; }
declare class AbortController { signal: AbortSignal; abort(reason?: any): void; }
declare class Headers { constructor(init?: Record<string, string>); get(name: string): string | null; has(name: string): boolean; }
declare class Response {
  readonly status: number; readonly ok: boolean; readonly url: string; readonly headers: Headers;
  json(): Promise<any>; text(): Promise<string>; arrayBuffer(): Promise<ArrayBuffer>;
}
/** Reaches the hosts that the policy grants (the request names those it wants in hosts); any other rejects. */
declare function fetch(url: string | URL, init?: {
  method?: string; headers?: Record<string, string> | Headers; body?: string | ArrayBuffer | ArrayBufferView | URLSearchParams;
  redirect?: "follow" | "manual" | "error"; signal?: AbortSignal;
}): Promise<Response>;
declare const api: {
  /** One call of the host that the request names (path), or of any that is granted (url). At most 50 calls, with fetch and tools. */
  request(options: {
    method?: string; path?: string; url?: string; query?: Record<string, string | number | boolean>;
    headers?: Record<string, string>; body?: unknown; signal?: AbortSignal;
  }): Promise<{ status: number; ok: boolean; url: string; headers: Record<string, string>; body: any }>;
};
/** The request's secrets by name, as placeholders: in calls of a secret's own hosts they are replaced by its value. */
declare const secrets: { readonly [name: string]: string };
/** Waits that outlast the process, if the policy grants them. Durations are milliseconds, or text such as "90 s" or "3 days". */
declare const airlock: {
  sleep(duration: number | string): Promise<void>;
  /** Resolves to what the event brings, and rejects when the timeout has passed. */
  waitForEvent(name: string, options?: { timeout?: number | string }): Promise<any>;
  /** Asks a person. Resolves to the answer, which fits the JSON Schema, and rejects with the reason. */
  approve(question: { title: string; detail?: string; schema?: object }): Promise<any>;
};
declare const performance: { now(): number };
declare const crypto: { randomUUID(): string; getRandomValues<T extends ArrayBufferView>(array: T): T; readonly subtle: any };
/** Node's modules, as far as the policy has them: require("node:buffer"). import works as well. */
declare function require(name: string): any;
/*
 * Each of the request's tools is a function of its namespace: with tools [{"name": "weather:today", "url": "…"}]
 *   declare const weather: { today(params?: any): Promise<any> };
 */
