// Many tasks, few at a time: a pool with a limit and retries, and MapReduce built on it.
// tier: standard

async function pool(tasks, { limit, retries = 0 }) {
  const results = new Array(tasks.length);
  let next = 0;
  let busy = 0;
  let peak = 0;
  async function worker() {
    while (next < tasks.length) {
      const i = next++;
      peak = Math.max(peak, ++busy);
      for (let attempt = 0; ; attempt++) {
        try {
          results[i] = { ok: true, value: await tasks[i](attempt) };
        } catch (e) {
          if (attempt < retries) continue;
          results[i] = { ok: false, error: e.message };
        }
        break;
      }
      busy--;
    }
  }
  await Promise.all(Array.from({ length: limit }, worker));
  return { results, peak };
}

const tick = () => new Promise((done) => setTimeout(done, 1));
const count = (text) => async (attempt) => {
  await tick();
  if (text.startsWith("flaky") && attempt === 0) throw new Error("try again");
  if (text.startsWith("broken")) throw new Error("cannot be read");
  return Object.entries(Object.groupBy(text.split(" "), (word) => word)).map(([word, all]) => [word, all.length]);
};

const { results, peak } = await pool(input.map(count), { limit: 2, retries: 1 });
const words = {};
for (const { ok, value, error } of results) {
  if (!ok) console.warn("lost a part:", error);
  for (const [word, n] of value ?? []) words[word] = (words[word] ?? 0) + n;
}
console.log("at most", peak, "at once");
export default Object.fromEntries(Object.entries(words).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
