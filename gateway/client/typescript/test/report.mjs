import process from "node:process";

export const inWorkers = globalThis.navigator?.userAgent === "Cloudflare-Workers";

/**
 * Runs tests, by name, and reports them on the program's output and by its exit code. In Workers, where nothing can be
 * fetched before a request comes, it returns the worker: each request runs the tests, and its answer has the report.
 */
export function report(tests) {
  const run = async (say) => {
    let failed = 0;
    for (const [name, test] of Object.entries(tests)) {
      try {
        await test();
        say(`ok   ${name}`);
      } catch (error) {
        failed++;
        say(`FAIL ${name}: ${error?.stack ?? error}`);
      }
    }
    return failed;
  };
  if (!inWorkers) {
    run(console.log).then((failed) => process.exit(failed > 0 ? 1 : 0));
    return undefined;
  }
  return {
    async fetch() {
      const lines = [];
      const failed = await run((line) => lines.push(line));
      return new Response(lines.join("\n"), { status: failed > 0 ? 500 : 200 });
    },
  };
}
