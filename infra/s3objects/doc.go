// Package s3objects stores small documents in a bucket: state, anchors, and inputs that are too large for an
// invocation. Every object is written and read with its CRC32. Nothing is overwritten blindly: an object is created
// if there is none, or replaces the version that was read.
//
// The stores of package infra and package wiring import it. Start with [Store].
package s3objects
