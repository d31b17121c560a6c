// Package audit defines the record of an execution: its JSON, the hash chain that binds the records of a writer, and
// the redaction before anything is stored. It does no I/O; the stores (infra/records/filerecords,
// infra/records/s3records) do.
//
// # The chain
//
// A record is stored as one line of compact JSON whose last member is its chain:
//
//	{"id":"exec_…", … ,"chain":{"writer":"01J…","seq":7,"prev":"<64 hex>","prevId":"exec_…","hash":"<64 hex>"}}
//
// The hash is the SHA-256 of every byte of the line before `,"hash":"`, in lower-case hex. prev is the hash of the
// previous record of the same writer; it is empty if seq is 1. prevId is the id of that record, so that it can be named
// even when it is gone (old records may lack it). Nothing is normalised or left out: a byte that was changed, added or
// removed anywhere in the line is detected, and anybody can check a line with sha256sum. A deployment with a chain key
// also gets "mac" after "hash": the HMAC-SHA256 of the same bytes. An attacker who can write to the store but does not
// have the key cannot make it.
//
// A writer is one opening of a store by one process, or one lane of an opening that writes several records at once. It
// has a ULID and counts from 1, so any number of processes can write at once without coordination. A chain alone cannot
// show that its newest records are gone. Therefore a store keeps the [Head] of each writer apart from the records, and
// [Verifier] compares them.
//
// # Anchors
//
// A store that is rolled back as a whole, or emptied, is consistent with itself. An [Anchor] holds the heads at some
// time and is kept outside the store. [Verifier.Anchor] requires every chain to reach at least that far, with exactly
// those hashes. An anchor is a lower bound and may be old, so a store that only grew always satisfies it, whatever
// crashed. Records that retention removed satisfy it too, unless they are too young for retention.
//
// [SignCheckpoint] makes an anchor a file for others to keep: a note in the format of C2SP's tlog-checkpoint, signed
// with Ed25519. Only the holder of the key can make one, of any state, and that state must then exist.
//
// # Where to go from here
//
// Start with [Record] and [Seal]. Every package outside sandbox may import this package; it imports nothing of the
// module but leaves.
package audit
