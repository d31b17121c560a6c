// Live output: the caller of a streamed execution receives each console call as it is made.
// tier: standard

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function* extract(rows) {
  for (const row of rows) {
    await pause(1);
    yield row;
  }
}

async function* keep(rows, test) {
  for await (const row of rows) if (test(row)) yield row;
}

let total = 0;
let seen = 0;
for await (const { sku, amount } of keep(extract(input), (row) => row.amount > 0)) {
  total += amount;
  console.log(`${++seen}. ${sku}: ${amount}, so far ${total}`);
}
export default { seen, total };
