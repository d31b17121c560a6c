import type { components } from "./wire.js";
import { call, type Transport } from "./http.js";
import { pages, query } from "./pages.js";

export type AuditRecord = components["schemas"]["Record"];

/** Which records {@link Records.list} returns: all that the caller may see, by default. */
export interface RecordFilter {
  status?: string;
  policy?: string;
  function?: string;
  /** Records from this moment on. */
  since?: Date;
  /** Records before this moment. */
  until?: Date;
}

/** Audit records: `airlock.records`. Reading them needs a token with the scope audit:read. */
export class Records {
  constructor(private readonly transport: Transport) {}

  /** Returns the record of an execution. */
  async get(id: string): Promise<AuditRecord> {
    return call<AuditRecord>(this.transport, { method: "GET", path: `/api/audit/execution/${encodeURIComponent(id)}` });
  }

  /** Returns records, newest first, and reads page after page. */
  list(filter: RecordFilter = {}): AsyncGenerator<AuditRecord, void, void> {
    const { since, until, ...rest } = filter;
    const given = { ...rest, since: since?.toISOString(), until: until?.toISOString() };
    return pages<AuditRecord>(this.transport, "/api/audit/executions" + query(given));
  }
}
