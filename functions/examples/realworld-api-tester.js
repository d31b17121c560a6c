// A contract test of an API: recorded responses are compared with a small schema, with the path of each difference.
// tier: standard

function differences(value, schema, path = "$") {
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  if (schema.type && schema.type !== type) return [`${path} is ${type}, not ${schema.type}`];
  const out = [];
  if (schema.enum && !schema.enum.includes(value)) out.push(`${path} is none of ${schema.enum.join(", ")}`);
  if (schema.pattern && !new RegExp(schema.pattern).test(value)) out.push(`${path} does not match ${schema.pattern}`);
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) out.push(`${path}.${name} is missing`);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    if (Object.hasOwn(value, name)) out.push(...differences(value[name], inner, `${path}.${name}`));
  }
  if (schema.items) value.forEach((item, i) => out.push(...differences(item, schema.items, `${path}[${i}]`)));
  return out;
}

export default ({ schema, answers }) => {
  const report = answers.map(({ name, status, body }) => {
    const wrong = status === 200 ? differences(body, schema) : [`status ${status}`];
    console.log(wrong.length ? "FAIL" : "ok  ", name);
    wrong.forEach((w) => console.log("     ", w));
    return wrong.length;
  });
  return { passed: report.filter((n) => n === 0).length, failed: report.filter(Boolean).length };
};
