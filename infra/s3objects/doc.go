// Package s3objects keeps small documents in a bucket, for whatever of a deployment is neither a record nor a file:
// inputs that are too large for an invocation, saved functions. Every object is sent with its CRC32 and read back
// with it. Nothing is ever overwritten unseen: an object is made where there is none, or put in the place of the very
// version that was read.
package s3objects
