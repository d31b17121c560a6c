// Package audit is the record of one execution: its JSON, the hash chain that binds a writer's records together, and
// what is redacted before anything is stored. It does no I/O; the stores (infra/filerecords, infra/s3records) do.
//
// # The chain
//
// A record is stored as one line of compact JSON whose last member is its chain:
//
//	{"id":"exec_…", … ,"chain":{"writer":"01J…","seq":7,"prev":"<64 hex>","prevId":"exec_…","hash":"<64 hex>"}}
//
// The hash is the SHA-256 of every byte of the line that stands before `,"hash":"`, written in lower-case hex. prev is
// the hash of the record that the same writer wrote before this one, and empty when seq is 1; prevId names that record, so
// that it has a name even when it is gone (records of old may lack it). Nothing is normalised and
// nothing is left out: a byte changed, added or taken away anywhere in the line is seen, and anybody can check a line
// with sha256sum. A deployment with a chain key also gets "mac" after "hash": the HMAC-SHA256 of the same bytes, which
// somebody who can write to the store, but does not have the key, cannot make.
//
// A writer is one opening of a store by one process: it has a ULID of its own and counts from 1, so that any number of
// processes write at once without asking one another. What a chain alone cannot show is that its newest records are
// gone; for that a store keeps, apart from the records, the [Head] of each writer, and [Verifier] compares.
package audit
