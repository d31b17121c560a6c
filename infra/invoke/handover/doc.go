// Package handover carries invocations that are larger than Lambda's 6 MiB from the gateway to the function through
// S3.
//
// The gateway puts the invocation's JSON under a key made of the execution's id and the hash of the bytes, and sends
// an [execution.Handover] in its place. The function makes the same key from it, reads, and believes the bytes only
// when they have that hash. A caller who may invoke the function directly can thus name nothing but what it knows
// byte for byte: the key of somebody else's input takes the hash of that input, and no path, bucket or prefix can be
// written into it.
//
// Nobody deletes: the bucket's lifecycle does, after a day. The gateway may add and not read, the function read and
// not add.
package handover
