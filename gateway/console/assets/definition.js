// The definition of a saved function, made of what the API shows of it.
import { call, part } from "/assets/api.js";

const fields = ["code", "files", "entry", "language", "engine", "policy", "timeout", "memory", "limits", "tools", "context", "env", "hosts", "secrets"];

// hookOf returns the webhook of a function as it is saved. Its secret is not shown, and kept when it is left out.
export async function hookOf(f) {
  if (!f.hook) return null;
  const { path, secretSet, ...settings } = (await call(`/api/functions/${part(f.name)}/hook`)).body;
  return settings;
}

// definitionOf returns what saves a function again as it is.
export async function definitionOf(f) {
  const definition = Object.fromEntries(fields.filter((name) => f[name] !== undefined).map((name) => [name, f[name]]));
  const hook = await hookOf(f);
  if (hook) definition.hook = hook;
  if (f.schedule) {
    const { next, ...schedule } = f.schedule;
    definition.schedule = schedule;
  }
  return definition;
}
