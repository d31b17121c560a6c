// Package s3state reads the state that gateways kept in an S3 bucket until they used tables, so that it can be copied
// to a store that they still write. Nothing writes this layout any more.
//
//	functions/t<tenant in hex>/<name>                 the function and its versions
//	contents/t<tenant in hex>/<name>/<sha256>         the content of a version
//	jobs/<execution id>                               a job, its request and its result
//	deliveries/<sha256 of the key>                    a key that is taken, and its answer
//	events/t<tenant in hex>/<name>/<execution id>     the event of a webhook
//	gone/t<tenant in hex>/<sha256 of the URL>         a receiver of callbacks that is gone
//	anchors/…                                         an anchor
//
// Only package wiring and tests import this package. Start with [Source.Export].
package s3state
