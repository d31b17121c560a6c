// A review of a pull request: rules check the added lines of a diff, and the worst finding decides.
// tier: strict

const rules = [
  { id: "secret", weight: 3, pattern: /(?:api[_-]?key|password)\s*[:=]\s*["'][^"']{6,}/i, says: "looks like a credential" },
  { id: "loose-equality", weight: 1, pattern: /[^=!]==[^=]/, says: "compares with ==" },
  { id: "console", weight: 1, pattern: /console\.(?:log|debug)\(/, says: "prints" },
  { id: "sql", weight: 3, pattern: /["'`]\s*(?:SELECT|DELETE|UPDATE)\b.*["'`]\s*\+/i, says: "builds SQL by concatenation" },
];

export default function review(diff) {
  let file = "";
  let line = 0;
  const comments = [];
  for (const text of diff.split("\n")) {
    const hunk = /^@@ -\S+ \+(\d+)/.exec(text);
    if (text.startsWith("+++ ")) file = text.slice(6);
    else if (hunk) line = Number(hunk[1]);
    else if (text.startsWith("+")) {
      for (const { id, weight, pattern, says } of rules) if (pattern.test(text)) comments.push({ file, line, id, weight, says });
      line++;
    } else if (!text.startsWith("-")) line++;
  }
  for (const c of comments) console.log(`${c.file}:${c.line}: ${c.id}: ${c.says}`);
  const worst = Math.max(0, ...comments.map((c) => c.weight));
  return { verdict: worst >= 3 ? "request changes" : worst ? "comment" : "approve", comments: comments.length };
}
