// CSV with quoted fields, then statistics of a column and the correlation of two.
// tier: strict

function parse(csv) {
  const rows = [[""]];
  let quoted = false;
  for (let i = 0; i < csv.length; i++) {
    const c = csv[i];
    const row = rows.at(-1);
    if (quoted && c === '"' && csv[i + 1] === '"') row[row.length - 1] += csv[++i];
    else if (c === '"') quoted = !quoted;
    else if (!quoted && c === ",") row.push("");
    else if (!quoted && c === "\n") rows.push([""]);
    else row[row.length - 1] += c;
  }
  const [head, ...body] = rows.filter((row) => row.length > 1);
  return body.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

const mean = (xs) => xs.reduce((sum, x) => sum + x, 0) / xs.length;
const deviation = (xs) => Math.sqrt(mean(xs.map((x) => (x - mean(xs)) ** 2)));
const median = (xs) => {
  const sorted = xs.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
const correlation = (xs, ys) => mean(xs.map((x, i) => (x - mean(xs)) * (ys[i] - mean(ys)))) / (deviation(xs) * deviation(ys));

const people = parse(input);
const ages = people.map((p) => Number(p.age));
const incomes = people.map((p) => Number(p.income));
console.log(`${people.length} rows, the first is ${people[0].name}`);
({
  age: { mean: mean(ages), median: median(ages), deviation: Number(deviation(ages).toFixed(3)) },
  correlation: Number(correlation(ages, incomes).toFixed(4)),
});
