/** The request's input; null when there is none. Every entry of the request's context is a global of its own name too. */
declare const input: any;
/** The result, where the code assigns it and returns nothing. */
declare var output: any;
/** Lines that the caller sees as they are printed. */
declare const console: Pick<Console, "log" | "info" | "warn" | "error" | "debug">;
declare function setTimeout(callback: (...args: any[]) => void, ms?: number, ...args: any[]): number;
declare function clearTimeout(id?: number): void;
declare function setInterval(callback: (...args: any[]) => void, ms?: number, ...args: any[]): number;
declare function clearInterval(id?: number): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T): T;
declare function atob(base64: string): string;
declare function btoa(bytes: string): string;
/** As in browsers; beside them the language itself (ES2023), Event, EventTarget and the streams of the web. */
declare class URL { constructor(url: string, base?: string | URL); href: string; searchParams: URLSearchParams; }
declare class URLSearchParams { constructor(init?: string | Record<string, string>); get(name: string): string | null; }
declare class TextEncoder { encode(text?: string): Uint8Array; }
declare class TextDecoder { constructor(label?: string); decode(bytes?: ArrayBuffer | ArrayBufferView): string; }
declare class AbortController { signal: AbortSignal; abort(reason?: any): void; }
declare const performance: { now(): number };
/*
 * Each of the request's tools is a function of its namespace: with tools [{"name": "weather:today", "url": "…"}]
 *   declare const weather: { today(params?: any): Promise<any> };
 */
