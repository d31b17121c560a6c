// Package s3records is the audit store on S3 and what speaks its protocol.
//
//	<prefix>/executions/dt=2006-01-02/exec_….json   one record each, never overwritten
//	<prefix>/writers/<ULID>.json                    the newest record of each writer, written after the fact
//
// Every record is sent with its CRC32 and with If-None-Match: *, so that S3 itself refuses damaged bytes and a second
// record of an id. The key is made from the id by package audit; nobody else's text becomes a key.
//
// # When the answer does not come
//
// A request that was cut off may have been carried out. Append asks again; told then that the object exists, it
// compares: its own bytes mean that the first attempt arrived. When no attempt gets an answer, what happens depends
// on the spool:
//
//   - Without one (on Lambda: nothing there outlives the environment) Append fails, and the record may or may not be
//     there. The chain waits for the truth: before the next record is written that one is sent again. Appending the same
//     record again succeeds. A role that may write and not read cannot be told: it begins another chain, so that neither
//     outcome leaves a hole.
//   - With one the record is put on the local disk, flushed, and Append succeeds. From then on records go straight to
//     the spool, in no time, while one goroutine goes on asking S3; when it has emptied the spool they go to S3
//     again. The spool is bounded; when it is full, Append fails. Who opens a store with the spool of a killed
//     process sends what that one left.
//
// # What a verification can show
//
// Missing, altered and exchanged records by hash and chain; a chain's missing tail as far as the writer's head object
// got; and in a bucket with versioning every deletion and every overwriting, because the older versions are still
// there. With Object Lock in compliance mode neither is possible before the retention ends. Of days that the bucket's
// lifecycle rules may have taken, the writers' heads say which part of which chain they held; what is missing of
// other days is found all the same.
package s3records
