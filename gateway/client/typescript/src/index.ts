/** Runs untrusted JavaScript and TypeScript on an Airlock gateway. Start with {@link Airlock.connect}. */
export { Airlock } from "./airlock.js";
export type { ConnectOptions, RunOptions, SubmitOptions, InvokeOptions, StreamEvent } from "./airlock.js";
export { Approvals } from "./approvals.js";
export type { Decision, Paused, Waiting } from "./approvals.js";
export { Execution } from "./execution.js";
export { AirlockError, ExecutionError } from "./errors.js";
export { Functions } from "./functions.js";
export type { Alias, Complete, Definition, Diff, Saved, Version } from "./functions.js";
export { Records } from "./records.js";
export type { AuditRecord, RecordFilter } from "./records.js";
export { Result } from "./result.js";
export type { Analysis, Log, Limit, Status, WireResult } from "./result.js";
export { Session, Sessions } from "./sessions.js";
export type { SessionInfo, StepOptions } from "./sessions.js";
export type { Tool, ToolFunction, ToolContext, Tools, Schema } from "./tools.js";
export type { components, paths } from "./wire.js";
