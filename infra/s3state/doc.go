// Package s3state is the state of gateways that run in many places at once, on S3: saved functions, webhook deliveries and
// the idempotency of requests. Whichever gateway is asked answers the same.
//
//	functions/t<tenant in hex>/<name>                 the function and its versions; replaced by compare-and-swap
//	contents/t<tenant in hex>/<name>/<sha256>         what a version runs; never replaced, and read by its hash
//	deliveries/<sha256 of the key>                    a key that was taken, and the answer it was given
//	events/t<tenant in hex>/<name>/<execution id>     what a webhook delivered
//
// Every change is made on the very object that was read, and made again on the newer one when another gateway was faster.
// A key is taken for as long as a request may last: a gateway that dies with it gives it back by that. Nothing is run
// later, so jobs and schedules are refused with execution.ErrNotKept. What deliveries and events leave behind is for
// the bucket's lifecycle to remove.
package s3state
