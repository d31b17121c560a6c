// Package pgstate is the state that the gateways of a fleet share in a Postgres database: saved functions, jobs,
// schedules, webhook deliveries, idempotency keys, quotas and anchors, in the schema "airlock".
//
// Each step is one transaction; the frequent ones are one statement and one round trip. Concurrent callers share them
// (group.go): jobs that are submitted or end at the same time are one statement and one flush of the log, and a claim
// takes a job for each free worker. Claims use FOR UPDATE SKIP LOCKED, in turn between tenants. A change of a job names
// the version that it read and is repeated if another gateway was faster. Each change carries a random token, so an
// attempt whose answer was lost recognizes its own work. No statement depends on a session: there are no prepared
// statements or session settings, so PgBouncer may pool by transaction. For the same reason nothing listens for
// notifications: a gateway looks for the work of others every second, and for its own at once.
//
// # Who has died
//
// Each gateway writes a heartbeat every two seconds, by the clock of the database. If a heartbeat is more than eight
// seconds old, its gateway has died, and its running jobs are orphans. A gateway declares others dead only while its
// own heartbeats arrive, so no gateway counts as dead because of an outage of the database. Jobs of a gateway begin
// within its lease after a heartbeat (Config.Lease), or not at all, and an orphan says for how long that has been over:
// the function of an orphan may still run where it outlives its gateway. A gateway that was suspended for longer than
// eight seconds and continues counts as dead in between. It begins none of the jobs that it had claimed, but a job that
// it was running may run a second time.
//
// # Limits
//
// Quotas are exact under a lock near their limit. Below half of a limit, concurrent changes do not wait for one
// another, and each may add at most a part in 64 of the quota. The database's own administration bounds the space of
// all tenants together.
//
// Only package wiring and tests import this package. Start with [Open], then read migrations/00001_state.sql.
package pgstate
