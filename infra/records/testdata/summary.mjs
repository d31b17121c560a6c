// Prints a summary of the records in files, as DuckDB computes it: node summary.mjs 'audit/executions/dt=*/*.json'.
// DUCKDB_MODULES is a folder with the npm package @duckdb/node-api.
import { createRequire } from 'node:module';
const { DuckDBInstance } = createRequire(process.env.DUCKDB_MODULES + '/')('@duckdb/node-api');

const records = `read_json('${process.argv[2]}', format = 'newline_delimited', maximum_object_size = 33554432, columns = {
  id: 'VARCHAR', time: 'TIMESTAMPTZ', durationMs: 'DOUBLE', status: 'VARCHAR', policy: 'VARCHAR', outputBytes: 'BIGINT',
  caller: 'STRUCT(tenant VARCHAR)', usage: 'STRUCT(cpuMs DOUBLE, apiCalls INTEGER, memoryBytes BIGINT)'})`;

const db = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();
const by = async (what) => Object.fromEntries(
  (await rows(`SELECT ${what} AS name, count(*) AS n FROM ${records} GROUP BY 1`)).map((r) => [r.name, Number(r.n)]));

const [sum] = await rows(`SELECT count(*) AS records, sum(durationMs) AS durationMs, sum(usage.cpuMs) AS cpuMs,
  sum(outputBytes) AS outputBytes, sum(usage.apiCalls) AS apiCalls, max(usage.memoryBytes) AS peakMemoryBytes,
  epoch_us(min(time)) AS oldest, epoch_us(max(time)) AS newest FROM ${records}`);
for (const name in sum) sum[name] = Number(sum[name]);
console.log(JSON.stringify({
  ...sum, byStatus: await by('status'), byPolicy: await by('policy'), byTenant: await by('caller.tenant'),
}));
