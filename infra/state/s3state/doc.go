// Package s3state is the state that several gateways share, in an S3 bucket: saved functions, jobs, schedules,
// webhook deliveries and the idempotency of requests. Every gateway sees the same state.
//
//	functions/t<tenant in hex>/<name>                 the function and its versions; replaced by compare-and-swap
//	contents/t<tenant in hex>/<name>/<sha256>         the content of a version; never replaced, verified by its hash
//	jobs/<execution id>                               a job, its request and its result; replaced by compare-and-swap
//	marks/<list>/<when>.<step>.<document>             a due-entry: when a document is due (due.go)
//	gone/t<tenant in hex>/<sha256 of the URL>         a receiver of callbacks that is gone
//	deliveries/<sha256 of the key>                    a key that is taken, and its answer
//	events/t<tenant in hex>/<name>/<execution id>     the event of a webhook
//
// A change applies to the version of the object that was read. If another gateway was faster, the change is repeated
// on the newer version. A key is taken for as long as a request may last, so the key of a gateway that died becomes
// free by itself. The bucket's lifecycle removes deliveries, events and receivers; Prune removes jobs.
//
// # Limits
//
// Two quotas count here: the number of queued jobs of a tenant, and the bytes of its functions with all their
// versions. Both are counted now and then, so a tenant that uses several gateways may exceed them a little. Results,
// deliveries, idempotency keys and events grow until the bucket's lifecycle or Prune removes them: a bucket has no end
// that one tenant could exhaust for others. Leases, keys and schedules follow the clocks of the gateways: a slow clock
// acts late, a fast one early.
//
// # Why a job runs once
//
// Of several gateways that claim a job, one replaces the object. It owns the job for a lease, and the job must start
// within the first third of it: a function refuses a later start (execution.Invocation.StartBefore). When the lease
// has ended, whatever started under it has ended too, and its audit record says whether the job ran. Clocks may
// differ by the time by which two thirds of the lease exceed the life of a function, about a minute with the
// template's settings.
//
// Only package wiring and tests import this package. Start with change in store.go.
package s3state
