package sqlitestate

import (
	"fmt"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// The kinds of usage. Those of execution are quotas; queued and running together are execution.QuotaJobs.
const (
	kindQueued  = share.Queued
	kindRunning = share.Running
)

// rowBytes is the size of a row beyond its content: keys, its part of the indexes, and unused space of pages.
const rowBytes = 512

// schema returns the steps that built the file. It only ever grows; user_version counts its steps.
func schema() []string {
	return []string{stepTables, stepEvents, stepUsage + counters(), stepPaused + pausedCounters(),
		stepResults + resultCounters(), stepDueOf, stepSnapshots + snapshotCounters(),
		stepContents + fileTriggers("requests", "snapshots", "versions") + contentCounters(),
		stepAsides + fileTriggers("asides") + asideCounters(),
		stepEventFiles + fileTriggers("events") + eventCounters()}
}

// stepSnapshots keeps snapshots apart from their jobs, like results: every step of a session, and every event, changes
// its job. Snapshots from before stay in the rows of their jobs until they are replaced.
const stepSnapshots = `
CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, snapshot BLOB NOT NULL);
ALTER TABLE jobs ADD COLUMN snapshot_bytes INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER snapshots_out AFTER DELETE ON jobs WHEN OLD.snapshot_bytes > 0
	BEGIN DELETE FROM snapshots WHERE seq = OLD.seq; END;
`

// stepDueOf finds the paused jobs of one tenant that are due.
const stepDueOf = "CREATE INDEX jobs_due_of ON jobs (tenant, not_before) WHERE status = 'paused'"

// stepResults keeps results apart from their jobs: SQLite writes the whole row at each change, and a callback changes
// its job several times. Results from before stay in the rows of their jobs until they are replaced.
const stepResults = `
CREATE TABLE results (seq INTEGER PRIMARY KEY, result BLOB NOT NULL);
ALTER TABLE jobs ADD COLUMN result_bytes INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER results_out AFTER DELETE ON jobs WHEN OLD.result_bytes > 0
	BEGIN DELETE FROM results WHERE seq = OLD.seq; END;
`

// stepPaused adds paused jobs. Their not_before is when something is due.
const stepPaused = `
ALTER TABLE jobs ADD COLUMN snapshot BLOB;
CREATE INDEX jobs_due ON jobs (not_before) WHERE status = 'paused';
CREATE INDEX jobs_paused ON jobs (tenant, id) WHERE status = 'paused';
CREATE INDEX jobs_paused_of ON jobs (tenant, subject, id) WHERE status = 'paused';
`

const stepTables = `
CREATE TABLE functions (
	tenant TEXT NOT NULL, name TEXT NOT NULL, next INTEGER, doc BLOB NOT NULL,
	PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
CREATE INDEX functions_next ON functions (next) WHERE next IS NOT NULL;
CREATE TABLE versions (
	tenant TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, content BLOB NOT NULL,
	PRIMARY KEY (tenant, name, version)
);
CREATE TABLE jobs (
	seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, status TEXT NOT NULL,
	priority INTEGER NOT NULL, not_before INTEGER NOT NULL, owner TEXT NOT NULL, cancel INTEGER NOT NULL,
	callback INTEGER, ended INTEGER, doc BLOB NOT NULL, request BLOB NOT NULL, result BLOB
);
CREATE INDEX jobs_queued ON jobs (tenant, priority DESC, seq) WHERE status = 'queued';
CREATE INDEX jobs_running ON jobs (owner) WHERE status = 'running';
CREATE INDEX jobs_callback ON jobs (callback) WHERE callback IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (ended) WHERE ended IS NOT NULL;
CREATE TABLE gone (tenant TEXT NOT NULL, url TEXT NOT NULL, until INTEGER NOT NULL,
	PRIMARY KEY (tenant, url)) WITHOUT ROWID;
CREATE TABLE deliveries (
	key TEXT PRIMARY KEY, mark TEXT NOT NULL, until INTEGER NOT NULL, owner TEXT NOT NULL, answer BLOB
) WITHOUT ROWID;
CREATE INDEX deliveries_until ON deliveries (until);
`

const stepEvents = `
CREATE TABLE events (
	tenant TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, event BLOB NOT NULL,
	PRIMARY KEY (tenant, name, id)
);
CREATE INDEX events_at ON events (at);
`

// stepUsage adds the counters. Earlier keys belong to no tenant: they count against nobody and expire in a day.
const stepUsage = `
CREATE TABLE usage (
	tenant TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, n INTEGER NOT NULL, bytes INTEGER NOT NULL,
	PRIMARY KEY (tenant, kind, subject)
) WITHOUT ROWID;
CREATE TABLE probe (id INTEGER PRIMARY KEY, told TEXT NOT NULL);
ALTER TABLE jobs ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE deliveries ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
ALTER TABLE deliveries ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE deliveries ADD COLUMN kind TEXT NOT NULL DEFAULT 'keys';
CREATE INDEX jobs_results ON jobs (tenant, ended) WHERE ended IS NOT NULL;
CREATE INDEX jobs_outbox ON jobs (tenant, callback) WHERE callback IS NOT NULL;
CREATE INDEX deliveries_of ON deliveries (tenant, kind, until);
CREATE INDEX events_of ON events (tenant, at);
CREATE INDEX schedules_of ON functions (tenant, next) WHERE next IS NOT NULL;
`

// counted is a table whose rows count. Each field is an expression over a row called R.
type counted struct {
	table, tenant, kind, subject, bytes string
	changes                             string // the columns of which the others depend
	where                               string // which rows count; "" for all
}

// counters returns triggers that maintain the usage in the transaction of each change, and statements that count
// existing rows.
func counters() string {
	var b strings.Builder
	for n, c := range countedTables() {
		b.WriteString(c.triggers(n))
		b.WriteString(c.there())
	}
	return b.String()
}

// countedJobs is the place of jobs in countedTables.
const countedJobs = 3

// pausedCounters returns the triggers of jobs again, which now count snapshots, too.
func pausedCounters() string {
	return jobCounters(" + ifnull(length(R.snapshot), 0)", ", snapshot")
}

// resultCounters returns the triggers of jobs again, which now count results of their own table, too.
func resultCounters() string {
	return jobCounters(" + ifnull(length(R.snapshot), 0) + R.result_bytes", ", snapshot, result_bytes")
}

// snapshotCounters returns the triggers of jobs again, which now count snapshots of their own table, too.
func snapshotCounters() string {
	return jobCounters(" + ifnull(length(R.snapshot), 0) + R.result_bytes + R.snapshot_bytes",
		", snapshot, result_bytes, snapshot_bytes")
}

// contentCounters returns the triggers of jobs and versions again, which now count requests of their own table and
// files, too.
func contentCounters() string {
	const versions = 2 // the place in countedTables
	return jobCounters(" + ifnull(length(R.snapshot), 0) + R.result_bytes + R.snapshot_bytes + R.request_bytes",
		", snapshot, result_bytes, snapshot_bytes, request_bytes") +
		recounted(versions, " + R.file_bytes", ", file_bytes")
}

// asideCounters returns the triggers of jobs again, which now count what is beside their documents, too.
func asideCounters() string {
	return jobCounters(" + ifnull(length(R.snapshot), 0) + R.result_bytes + R.snapshot_bytes + R.request_bytes"+
		" + R.aside_bytes", ", snapshot, result_bytes, snapshot_bytes, request_bytes, aside_bytes")
}

// eventCounters returns the triggers of events again, which now count files, too.
func eventCounters() string {
	const events = 5 // the place in countedTables
	return recounted(events, " + R.file_bytes", ", file_bytes")
}

// jobCounters returns statements that replace the triggers of jobs by ones that count more bytes.
func jobCounters(bytes, changes string) string { return recounted(countedJobs, bytes, changes) }

// recounted returns statements that replace the triggers of a table of countedTables by ones that count more bytes.
func recounted(n int, bytes, changes string) string {
	var b strings.Builder
	for _, event := range []string{"in", "out", "up"} {
		fmt.Fprintf(&b, "DROP TRIGGER counted_%d_%s;\n", n, event)
	}
	c := countedTables()[n]
	c.bytes += bytes
	c.changes += changes
	b.WriteString(c.triggers(n))
	return b.String()
}

// countedTables returns the tables whose rows count.
func countedTables() []counted {
	return []counted{
		{table: "functions", tenant: "R.tenant", kind: quoted(execution.QuotaFunctions), subject: "''",
			bytes: "length(R.doc)", changes: "doc"},
		{table: "functions", tenant: "R.tenant", kind: quoted(execution.QuotaSchedules), subject: "''", bytes: "0",
			changes: "next", where: "R.next IS NOT NULL"},
		{table: "versions", tenant: "R.tenant", kind: quoted(execution.QuotaFunctions), subject: "''",
			bytes: "length(R.content)", changes: "content"},
		{
			table: "jobs", tenant: "R.tenant", subject: "R.subject", changes: "status, ended, doc, request, result",
			kind: "CASE WHEN R.ended IS NOT NULL THEN " + quoted(execution.QuotaResults) + " WHEN R.status = 'queued' THEN " +
				quoted(kindQueued) + " ELSE " + quoted(kindRunning) + " END",
			bytes: "length(R.doc) + length(R.request) + ifnull(length(R.result), 0)",
		},
		{
			table: "deliveries", tenant: "R.tenant", kind: "R.kind", subject: "R.subject",
			changes: "answer, tenant, subject, kind",
			bytes:   "length(R.mark) + length(CAST(R.key AS BLOB)) + ifnull(length(R.answer), 0)",
		},
		{table: "events", tenant: "R.tenant", kind: quoted(execution.QuotaDeliveries), subject: "''",
			bytes: "length(R.event)", changes: "event"},
	}
}

// triggers returns the triggers of the table with a number.
func (c counted) triggers(n int) string {
	var b strings.Builder
	before, after := c.count("OLD", -1), c.count("NEW", 1)
	fmt.Fprintf(&b, "CREATE TRIGGER counted_%d_in AFTER INSERT ON %s BEGIN %s END;\n", n, c.table, after)
	fmt.Fprintf(&b, "CREATE TRIGGER counted_%d_out AFTER DELETE ON %s BEGIN %s END;\n", n, c.table, before)
	fmt.Fprintf(&b, "CREATE TRIGGER counted_%d_up AFTER UPDATE OF %s ON %s BEGIN %s %s END;\n", n, c.changes, c.table,
		after, before)
	return b.String()
}

func quoted(kind string) string { return "'" + kind + "'" }

// count returns the statements that add a row to the usage of its tenant and subject, or subtract it.
func (c counted) count(row string, sign int) string {
	of := func(expression string) string { return strings.ReplaceAll(expression, "R.", row+".") }
	where := "true"
	if c.where != "" {
		where = of(c.where)
	}
	var b strings.Builder
	for _, level := range []struct{ subject, where string }{{"''", where},
		{of(c.subject), where + " AND " + of(c.subject) + " <> ''"}} {
		if c.subject == "''" && level.where != where {
			continue
		}
		fmt.Fprintf(&b, `INSERT INTO usage (tenant, kind, subject, n, bytes) SELECT %s, %s, %s, %d, %d * (%d + %s) WHERE %s
			ON CONFLICT (tenant, kind, subject) DO UPDATE SET n = n + excluded.n, bytes = bytes + excluded.bytes;`,
			of(c.tenant), of(c.kind), level.subject, sign, sign, rowBytes, of(c.bytes), level.where)
	}
	if sign < 0 {
		fmt.Fprintf(&b, " DELETE FROM usage WHERE tenant = %s AND kind = %s AND subject IN ('', %s) AND n <= 0;",
			of(c.tenant), of(c.kind), of(c.subject))
	}
	return b.String()
}

// there returns statements that count the rows from before the counters.
func (c counted) there() string {
	of := func(expression string) string { return strings.ReplaceAll(expression, "R.", c.table+".") }
	where := "true"
	if c.where != "" {
		where = of(c.where)
	}
	return fmt.Sprintf(`INSERT INTO usage (tenant, kind, subject, n, bytes)
		SELECT %[1]s, %[2]s, '', count(*), sum(%[3]d + %[4]s) FROM %[5]s WHERE %[6]s GROUP BY 1, 2
		ON CONFLICT (tenant, kind, subject) DO UPDATE SET n = n + excluded.n, bytes = bytes + excluded.bytes;`+"\n",
		of(c.tenant), of(c.kind), rowBytes, of(c.bytes), c.table, where)
}
