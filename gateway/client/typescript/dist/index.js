/** Runs untrusted JavaScript and TypeScript on an Airlock gateway. Start with {@link Airlock.connect}. */
export { Airlock } from "./airlock.js";
export { Execution } from "./execution.js";
export { AirlockError, ExecutionError } from "./errors.js";
export { Functions } from "./functions.js";
export { Result } from "./result.js";
