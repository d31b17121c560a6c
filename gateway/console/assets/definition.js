// The definition of a saved function, made from the API's description of it.
import { call, part } from "/assets/api.js";

const fields = ["code", "files", "entry", "language", "engine", "policy", "timeout", "memory", "limits", "tools", "context", "env", "hosts", "secrets"];

// hookOf returns the webhook of a function in the form in which it is saved. The API does not show its secret, and
// keeps it if it is left out.
export async function hookOf(f) {
  if (!f.hook) return null;
  const { path, secretSet, ...settings } = (await call(`/api/functions/${part(f.name)}/hook`)).body;
  return settings;
}

// definitionOf returns the definition that saves a function again unchanged.
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
