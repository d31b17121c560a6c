// An assistant without a model: intents by pattern, a registry of tools, and a memory that later sentences refer to.
// tier: agent

const memory = { last: null, facts: new Map() };

const intents = [
  { name: "remember", pattern: /^remember that (?<key>[\w ]+) is (?<value>.+)$/i, run: ({ key, value }) => {
    memory.facts.set(key.toLowerCase(), value);
    return `noted: ${key} is ${value}`;
  } },
  { name: "recall", pattern: /^what is (?:the |my )?(?<key>[a-z ]+)\?$/i, run: ({ key }) => memory.facts.get(key.toLowerCase()) ?? "I do not know" },
  { name: "calculate", pattern: /^(?<left>-?[\d.]+|that) (?<op>plus|minus|times|over) (?<right>-?[\d.]+)$/i, run: ({ left, op, right }) => {
    const a = left === "that" ? memory.last : Number(left);
    const b = Number(right);
    if (typeof a !== "number") return "there is no number to go on from";
    return { plus: a + b, minus: a - b, times: a * b, over: a / b }[op.toLowerCase()];
  } },
];

function answer(sentence) {
  for (const { name, pattern, run } of intents) {
    const match = pattern.exec(sentence.trim());
    if (!match) continue;
    memory.last = run(match.groups);
    return { intent: name, answer: memory.last };
  }
  return { intent: "unknown", answer: "I did not understand that" };
}

export default (sentences) => sentences.map((sentence) => {
  const reply = answer(sentence);
  console.log(`> ${sentence}\n${reply.answer}`);
  return reply.intent;
});
