// Package audit is the record of one execution: its JSON, the hash chain that binds a writer's records together, and
// what is redacted before anything is stored. It does no I/O; the stores (infra/records/filerecords,
// infra/records/s3records) do.
//
// # The chain
//
// A record is stored as one line of compact JSON whose last member is its chain:
//
//	{"id":"exec_…", … ,"chain":{"writer":"01J…","seq":7,"prev":"<64 hex>","prevId":"exec_…","hash":"<64 hex>"}}
//
// The hash is the SHA-256 of every byte of the line that stands before `,"hash":"`, written in lower-case hex. prev is
// the hash of the record that the same writer wrote before this one, and empty when seq is 1; prevId names that record,
// so that it has a name even when it is gone (records of old may lack it). Nothing is normalised and nothing is left
// out: a byte changed, added or taken away anywhere in the line is seen, and anybody can check a line with sha256sum. A
// deployment with a chain key also gets "mac" after "hash": the HMAC-SHA256 of the same bytes, which somebody who can
// write to the store, but does not have the key, cannot make.
//
// A writer is one opening of a store by one process: it has a ULID of its own and counts from 1, so that any number of
// processes write at once without asking one another. What a chain alone cannot show is that its newest records are
// gone; for that a store keeps, apart from the records, the [Head] of each writer, and [Verifier] compares.
//
// # Anchors
//
// A store that is put back to an older state as a whole, or emptied, agrees with itself. An [Anchor] is what somebody
// knows apart from the store: the heads as they were at some time. [Verifier.Anchor] has every chain reach at least
// that far, with those very hashes. An anchor is a lower bound and may be old, so it never accuses a store that only
// grew, whoever wrote to it and whatever crashed. What retention took satisfies it, unless the record is too young for
// retention.
//
// [SignCheckpoint] makes an anchor a file that others can keep: a note in the format of C2SP's tlog-checkpoint, signed
// with Ed25519. Who cannot sign cannot make one; who can, can make one of any state, and that state then has to exist.
package audit
