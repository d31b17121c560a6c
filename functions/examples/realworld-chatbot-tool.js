// The loop of tool calling: the model asks for tools, and their results join the conversation until it replies.
// tier: agent

const tools = {
  weather: async ({ city }) => ({ Berlin: 18, Lisbon: 26 })[city] ?? Promise.reject(new Error(`no station in ${city}`)),
  convert: async ({ celsius }) => celsius * 1.8 + 32,
};

// model stands in for one: it looks at the last answers only.
function model(messages) {
  const last = messages.at(-1);
  if (last.role === "user") return { calls: last.text.match(/[A-Z][a-z]+/g).slice(1).map((city) => ["weather", { city }]) };
  const known = last.results.filter(({ value }) => value !== undefined);
  if (last.results[0].tool === "weather") return { calls: known.map(({ value }) => ["convert", { celsius: value }]) };
  return { text: known.map(({ value }) => `${value.toFixed(1)} °F`).join(" and ") };
}

export default async (question) => {
  const messages = [{ role: "user", text: question }];
  for (let turn = 1; turn <= 5; turn++) {
    const { text, calls } = model(messages);
    if (text) return { text, turns: turn };
    const settled = await Promise.allSettled(calls.map(([tool, params]) => tools[tool](params)));
    const results = settled.map(({ value, reason }, i) => ({ tool: calls[i][0], value, error: reason?.message }));
    for (const r of results) console.log(`turn ${turn}: ${r.tool}: ${r.error ?? r.value}`);
    messages.push({ role: "tool", results });
  }
  throw new Error("the model did not come to an end");
};
