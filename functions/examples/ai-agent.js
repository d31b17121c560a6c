// How an agent uses execute_code: list its tools, call them one after the other, and return each result.
// tier: agent

const tools = {
  add: { params: ["a", "b"], call: ({ a, b }) => a + b },
  primes: {
    params: ["below"],
    call: ({ below }) => {
      const found = [];
      for (let n = 2; n < below; n++) if (found.every((p) => n % p)) found.push(n);
      return found;
    },
  },
};

const describe = () => Object.entries(tools).map(([name, { params }]) => `${name}(${params.join(", ")})`);

function call({ tool, ...params }) {
  if (!Object.hasOwn(tools, tool)) return { tool, error: "no such tool" };
  const missing = tools[tool].params.filter((name) => !(name in params));
  if (missing.length) return { tool, error: `missing: ${missing.join(", ")}` };
  return { tool, result: tools[tool].call(params) };
}

console.log("tools:", describe().join("; "));
export default (plan) => plan.map(call);
