// Package handover carries invocations that exceed Lambda's 6 MiB from the gateway to the function through S3.
//
// The gateway stores the invocation's JSON under a key made of the execution's ID and the hash of the bytes, and
// sends an [execution.Handover] instead. The function makes the same key, reads the object, and accepts the bytes
// only if they have that hash. A caller who invokes the function directly can thus name only what it knows byte for
// byte: the key of another caller's input requires the hash of that input, and no path, bucket or prefix can be
// injected.
//
// Nothing here deletes: the bucket's lifecycle does, after a day. The gateway may write and not read; the function
// may read and not write.
//
// Packages wiring and process import it. Start with [Store.Put] and [Store.Get].
package handover
