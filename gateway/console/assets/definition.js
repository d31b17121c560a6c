// The definition of a saved function, made of what the API shows of it.

const fields = ["code", "files", "entry", "language", "engine", "policy", "timeout", "memory", "limits", "tools", "context", "env", "hosts", "secrets"];

// definitionOf returns what saves a function again as it is. It refuses a function with a webhook, because the API does
// not show all of that.
export function definitionOf(f) {
  if (f.hook) throw new Error("It has a webhook, whose settings cannot be read back whole. Save it with airlock functions put.");
  const definition = Object.fromEntries(fields.filter((name) => f[name] !== undefined).map((name) => [name, f[name]]));
  if (f.schedule) {
    const { next, ...schedule } = f.schedule;
    definition.schedule = schedule;
  }
  return definition;
}
