// Package dynamostate is the state that several gateways share in a DynamoDB table: saved functions, jobs, schedules,
// webhook deliveries, idempotency keys and anchors. What exceeds 16 KiB is an object in a bucket, and its item names
// it.
//
//	pk                                  sk             item
//	fn#<tenant in hex>                  name           a function and its versions
//	content#<tenant in hex>#<name>      hash           the content of versions
//	job#<execution id>                  -              a job, its request and its result
//	key#<sha256 of the key>             -              a key that is taken, and its answer
//	event#<tenant in hex>#<name>        execution id   the event of a webhook
//	gone#<tenant in hex>                sha256         a receiver of callbacks that is gone
//	document#<name>                     -              an anchor
//	use#<tenant in hex>                 quota          the bytes that count, by the time until which they do
//	cancel#<process>                    execution id   a running job that is to be stopped
//	processes                           process        a heartbeat
//
// Every change is one conditional write of one item: it names the version that was read, and is repeated if another
// gateway was faster. Each carries a random token, so an attempt whose answer was lost recognizes its own work. The
// index "due" lists, by the attributes list and at, what is queued, running, to be called back, scheduled or ended.
// It lags behind, so a reader of the index reads or writes the item under the condition that it is still there.
// Paused jobs are also in "wake", in the order of the times at which something is due, and in "paused", by tenant.
//
// # Who has died
//
// DynamoDB has no clock. A gateway writes a new token into its heartbeat every two seconds, and the others measure how
// long it stays the same, each by its own clock and only while its own heartbeats arrive. After eight seconds the
// gateway has died, and its running jobs are orphans. Jobs of a gateway begin within its lease after a heartbeat
// (Config.Lease), or not at all, and an orphan says for how long that has been over: the function of an orphan may
// still run where it outlives its gateway. A gateway that was suspended for longer than eight seconds and continues
// counts as dead in between. It begins none of the jobs that it had claimed, but a job that it was running may run a
// second time.
//
// # Limits
//
// All quotas of execution.Storage count: the bytes of functions with all their versions, the number of schedules, the
// bytes of jobs until they end (code, files, input, results so far, snapshots, sessions), of results, of deliveries
// with their answers and events, and of keys with their answers. Functions and schedules, like the number of queued
// jobs, are counted now and then, so a tenant that uses several gateways may exceed their limits a little. The others
// are additions to one item per tenant and quota (jobs and results share one), in slots that lapse when what they count
// does; a gateway that dies between an addition and its change leaves a little too much until then, or too little. A
// tenant with too many results loses its oldest, which the list of ended jobs of all tenants names. The table's TTL
// removes keys, events, receivers and what counts them, and Prune removes jobs. All queued jobs share one partition of
// the index, which accepts 1,000 changes a second: about 300 jobs. So does the item of a tenant's quota.
//
// Only package wiring and tests import this package. Start with [Open], then read change in table.go.
package dynamostate
