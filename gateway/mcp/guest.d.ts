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
/** Each of the request's tools, by the namespace and method in its name: await weather.today({city: "Oslo"}). */
declare const [namespace]: { [method: string]: (params?: any) => Promise<any> };
