// Saves the code as a version of a function.

import { call, part } from "/assets/api.js";
import { definitionOf } from "/assets/definition.js";

// save saves a request under a name and returns the saved version. The parts that a request lacks, such as the
// environment and the schedule, keep the function's values.
export async function save(name, { code, language, policy, timeout, memory, limits }) {
  const path = `/api/functions/${part(name)}`;
  const had = await call(path).catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  });
  const { files, entry, ...kept } = had ? await definitionOf(had.body) : {};
  const headers = had?.etag ? { "If-Match": had.etag } : had ? {} : { "If-None-Match": "*" };
  const { body } = await call(path, { method: "PUT", headers, body: { ...kept, code, language, policy, timeout, memory, limits } });
  return body.version;
}
