// Extract, transform, load: rows are checked and repaired, and rejected rows are listed with the reason.
// tier: strict

const schema = {
  email: (v) => (/^\S+@\S+\.\S+$/.test(v) ? v.toLowerCase() : fail("is no address")),
  amount: (v) => (Number.isFinite(Number(v)) ? Math.round(Number(v) * 100) : fail("is no number")),
  date: (v) => {
    const [, day, month, year] = /^(\d{2})\.(\d{2})\.(\d{4})$/.exec(v) ?? fail("is not DD.MM.YYYY");
    return `${year}-${month}-${day}`;
  },
};

function fail(why) {
  throw new RangeError(why);
}

export default function transform(csv) {
  const [head, ...lines] = csv.trim().split("\n").map((line) => line.split(";"));
  const loaded = [];
  const rejected = [];
  lines.forEach((cells, i) => {
    const row = {};
    for (const [c, name] of head.entries()) {
      try {
        row[name] = schema[name](cells[c].trim());
      } catch (e) {
        rejected.push(`line ${i + 2}: ${name} ${e.message}`);
        return;
      }
    }
    loaded.push(row);
  });
  rejected.forEach((r) => console.warn(r));
  return { loaded, total: loaded.reduce((sum, { amount }) => sum + amount, 0) };
}
