import type { Airlock, RunOptions } from "../airlock.js";
import type { Tools } from "../tools.js";

// The interface Executor of @cloudflare/codemode, which is not imported: its modules need the runtime of Workers.
type Functions = Record<string, (...args: unknown[]) => Promise<unknown>>;

interface Provider {
  name: string;
  fns: Functions;
  prelude?: string;
  positionalArgs?: boolean;
}

interface Outcome {
  result: unknown;
  error?: string;
  logs?: string[];
}

/** An `Executor` of Cloudflare's codemode: `createCodeTool({ tools, executor: new AirlockExecutor(airlock) })`. */
export class AirlockExecutor {
  constructor(
    private readonly airlock: Airlock,
    private readonly options: Omit<RunOptions, "input" | "tools" | "onLog" | "entry"> = {},
  ) {}

  /** Runs an async function, given as code. It never throws: what goes wrong is the error. */
  async execute(
    code: string, providersOrFns: Provider[] | Functions, options: { connectors?: unknown[] } = {},
  ): Promise<Outcome> {
    try {
      const providers = Array.isArray(providersOrFns) ? providersOrFns : [{ name: "codemode", fns: providersOrFns }];
      if (options.connectors?.length) throw new Error("connectors are bindings of Workers; give their functions as tools");
      if (providers.some((p) => "prelude" in p && p.prelude)) throw new Error("providers with a prelude are not supported");
      const tools: Tools = {};
      for (const { name, fns, positionalArgs } of providers) {
        tools[name] = Object.fromEntries(Object.entries(fns).map(([method, fn]) => [
          method, (params: unknown) => (positionalArgs ? fn(...(params as unknown[])) : fn(params)),
        ]));
      }
      const r = await this.airlock.run(positional(code, providers), { ...this.options, tools });
      return {
        result: r.result,
        ...(r.ok ? {} : { error: r.error ?? r.status }),
        ...(r.logs.length === 0 ? {} : { logs: r.logs.map((l) => (l.level === "log" ? l.message : `[${l.level}] ${l.message}`)) }),
      };
    } catch (error) {
      return { result: undefined, error: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Returns an async function whose calls of providers with positional parameters send the list of them: tools take one value. */
function positional(code: string, providers: Provider[]): string {
  const lists = providers.filter((p) => p.positionalArgs);
  if (lists.length === 0) return code;
  const names = lists.map((p) => p.name).join(", ");
  const functions = lists.map(({ name, fns }) => `Object.fromEntries(${JSON.stringify(Object.keys(fns))}.map((method) => ` +
    `[method, (...list) => ${name}[method](list)]))`).join(", ");
  let end = code.length;
  while (end > 0 && /[;\s]/.test(code.charAt(end - 1))) end--;
  return `await ((${names}) => (${code.slice(0, end)}\n))(${functions})()`;
}
