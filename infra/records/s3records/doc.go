// Package s3records is the audit store in an S3 bucket.
//
//	<prefix>/executions/dt=2006-01-02/exec_….json   one record each, never overwritten
//	<prefix>/writers/<ULID>.json                    the newest record of each writer, written afterwards
//	<prefix>/moves/<ULID>.json                      records that RepairDays moved to their own day
//
// Every record is sent with its CRC32 and with If-None-Match: *, so that S3 itself refuses damaged bytes and a second
// record of an ID. Package audit makes the key from the ID; no other text becomes part of a key.
//
// # Several records at once
//
// A request takes tens of milliseconds, so a store writes up to 64 records at once, each on a lane: a writer with a
// chain of its own. A lane writes one record at a time, so a record is only ever chained to one that exists, and a
// refused record leaves no gap. A caller that appends one record after the other uses one lane. Heads are written
// behind the records, each at most once a second while the chain grows.
//
// # Lost answers
//
// A request that was cut off may have been carried out. Append repeats it; if the object then exists, it compares the
// bytes: its own mean that the first attempt arrived. If no attempt gets an answer, the spool decides:
//
//   - Without one (on Lambda, where nothing outlives the environment) Append fails, and the record may or may not
//     exist. The chain waits: before its next record is written, this one is sent again. Appending the same record
//     again succeeds. A role that may write and not read cannot find out; it starts another chain, so that neither
//     outcome leaves a gap.
//   - With one the record is written to the local disk and flushed, and Append succeeds. From then on records go
//     straight to the spool while one goroutine keeps trying S3; when the spool is empty, they go to S3 again. The
//     spool is bounded; when it is full, Append fails. Opening a store with the spool of a killed process sends what is
//     in it.
//
// # What a verification shows
//
// Missing, altered and exchanged records by hash and chain; a chain's missing tail as far as the writer's head reached;
// and in a bucket with versioning every deletion and overwrite, because the older versions still exist. With Object
// Lock in compliance mode neither is possible before the retention ends. For days that the bucket's lifecycle rules may
// have removed, the writers' heads say which part of which chain they held; missing records of other days are still
// found.
//
// Package records and tests import it. Start with [Open] and [Store.Append].
package s3records
