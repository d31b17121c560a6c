// A workflow as a graph: steps of one topological level run in parallel, and a cycle is an error that lists its steps.
// tier: standard

function levels(steps) {
  const waiting = new Map(Object.entries(steps).map(([name, { after = [] }]) => [name, new Set(after)]));
  const out = [];
  while (waiting.size) {
    const ready = [...waiting].filter(([, before]) => before.size === 0).map(([name]) => name);
    if (!ready.length) throw new Error(`cycle among ${[...waiting.keys()].join(", ")}`);
    for (const name of ready) waiting.delete(name);
    for (const before of waiting.values()) for (const name of ready) before.delete(name);
    out.push(ready);
  }
  return out;
}

async function run(steps) {
  const results = {};
  for (const level of levels(steps)) {
    console.log("level:", level.join(", "));
    await Promise.all(level.map(async (name) => {
      results[name] = await steps[name].run(results);
    }));
  }
  return results;
}

const later = (value) => new Promise((done) => setTimeout(() => done(value), 1));
const { report } = await run({
  orders: { run: () => later([20, 22]) },
  rates: { run: () => later({ EUR: 2 }) },
  total: { after: ["orders"], run: ({ orders }) => orders.reduce((a, b) => a + b) },
  converted: { after: ["total", "rates"], run: ({ total, rates }) => total * rates.EUR },
  report: { after: ["converted"], run: ({ total, converted }) => `${total} is ${converted} EUR` },
});
try {
  await run({ chicken: { after: ["egg"] }, egg: { after: ["chicken"] } });
} catch (e) {
  console.log(e.message);
}
export default report;
