// Package s3state is the state of gateways that run in many places at once, on S3: saved functions, jobs, schedules, webhook
// deliveries and the idempotency of requests. Whichever gateway is asked answers the same.
//
//	functions/t<tenant in hex>/<name>                 the function and its versions; replaced by compare-and-swap
//	contents/t<tenant in hex>/<name>/<sha256>         what a version runs; never replaced, and read by its hash
//	jobs/<execution id>                               a job, its request and its result; replaced by compare-and-swap
//	marks/<list>/<when>.<step>.<which>                what has to be looked at, and when (marks.go)
//	gone/t<tenant in hex>/<sha256 of the URL>         a receiver of callbacks that said it is gone
//	deliveries/<sha256 of the key>                    a key that was taken, and the answer it was given
//	events/t<tenant in hex>/<name>/<execution id>     what a webhook delivered
//
// Every change is made on the very object that was read, and made again on the newer one when another gateway was faster.
// A key is taken for as long as a request may last: a gateway that dies with it gives it back by that. What deliveries,
// events and receivers leave behind is for the bucket's lifecycle to remove; jobs are forgotten by Prune.
//
// # What is not bounded here
//
// No storage quota (execution.Storage) counts here but the number of jobs of a tenant that have not begun, and that by
// counting now and then. Functions, results, deliveries, idempotency keys and events grow until the bucket's lifecycle, or
// Prune, removes them; a bucket has no end that one tenant could reach for the others. Leases, keys and schedules go by the
// clocks of the gateways: one whose clock is put back looks at them later, and one whose clock runs ahead looks sooner than
// it should.
//
// # Why a job is run once
//
// Of those who claim a job one replaces the object. The job is that one's for the time of a lease, and has to be begun in
// the first third of it: a function refuses what comes later (execution.Invocation.StartBefore). When the lease is over, so is
// whatever was begun under it, and its audit record tells whether it has happened. Clocks may differ by as much as two thirds of
// the lease are longer than a function lives, which is about a minute as the template has it.
package s3state
