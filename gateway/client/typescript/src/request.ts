import type { components } from "./wire.js";
import type { Log } from "./result.js";
import type { Toolbox, Tools } from "./tools.js";

/** What a run may have beside its code. Limits only lower those of the policy. */
export interface RunOptions {
  /** The global `input`. */
  input?: unknown;
  /** Each entry becomes a global. */
  context?: Record<string, unknown>;
  /** Files of the execution by relative path: text, or bytes. */
  files?: Record<string, string | Uint8Array>;
  /** The file that runs in place of the code, which is then "". */
  entry?: string;
  language?: "javascript" | "typescript";
  /** The tier: strict, standard (default), extended, agent, or one of the deployment. */
  policy?: string;
  /** Wall time in milliseconds. */
  timeout?: number;
  /** Such as "32mb". */
  memory?: string;
  limits?: components["schemas"]["Limits"];
  seed?: number;
  engine?: "quickjs" | "v8" | "jsc";
  priority?: "low" | "normal" | "high";
  hosts?: string[];
  secrets?: string[];
  /** Arguments of the program: process.argv from its third element on. */
  args?: string[];
  /** Functions of this program that the code may call. */
  tools?: Tools;
  /** Receives each console call while the code runs. */
  onLog?: (log: Pick<Log, "level" | "message">) => void;
  /** Aborting it cancels the run, or only ends the wait for it if there is an idempotency key. */
  signal?: AbortSignal;
  /** Requests with the same key run once. With a key, a request whose connection is lost is sent again. */
  idempotencyKey?: string;
}

export function key(options: { idempotencyKey?: string }): Record<string, string> {
  return options.idempotencyKey === undefined ? {} : { "Idempotency-Key": options.idempotencyKey };
}

/** The body of a request. */
export function body(code: string, options: RunOptions, toolbox?: Toolbox): string {
  const { tools: _tools, onLog: _onLog, signal: _signal, idempotencyKey: _key, files, ...rest } = options;
  const request: Record<string, unknown> = { ...rest };
  if (code !== "" || options.entry === undefined) request["code"] = code;
  if (files !== undefined) {
    request["files"] = Object.fromEntries(Object.entries(files).map(([path, content]) =>
      [path, typeof content === "string" ? content : { base64: base64(content) }]));
  }
  if (toolbox !== undefined && toolbox.wire.length > 0) request["tools"] = toolbox.wire;
  return JSON.stringify(request);
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
