// Package filerecords is the audit store in a folder of a local disk.
//
//	executions/dt=2006-01-02/exec_….json    one record each, never overwritten
//	audit-2006-01-02.jsonl                  the same lines in the order of writing
//	writers/<ULID>.head                     the newest record of an open writer, which holds its lock
//	writers/<ULID>/draft                    the file that becomes its next record
//	writers/ledger.jsonl                    where each ended writer stopped, and what retention removed
//	torn/                                   halves of lines that a killed process left
//
// A record is filed under the UTC day in its ID. Both layouts hold the same bytes: the sealed line of package audit.
//
// # Several processes
//
// Any number of processes may open a folder and write at once. Each Open is a writer with an ID and a hash chain of its
// own. Writers wait for one another only for the microseconds in which a line goes to the day's file, under flock. The
// disk must be local: a network file system does not keep these promises.
//
// # The steps of an Append
//
//  1. The head file announces the record: number, hash, ID.
//  2. The record is written to the writer's draft, which is renamed to its place. The rename fails if there is a record
//     of that ID.
//  3. The line is appended to the day's file.
//  4. The head file confirms.
//
// A process that is killed before the rename has written nothing. If it is killed after it, the next Open finds the
// dead writer's head (its lock is free), completes the line and moves the head's content to the ledger. The next append
// to a file finds half a line under the lock and moves it to torn/. If a step fails (a full disk), the earlier steps
// are undone in reverse, so that a failed Append leaves no record.
//
// # Durability
//
// By default a record is with the kernel when Append returns: the death of the process loses nothing; a power cut or a
// kernel crash may lose the last seconds, and then Verify names what is missing. With Config.Sync it is on the disk, at
// the cost of four flushes (object, its name, line, head).
//
// A truncated chain is found because heads and ledger say how far each chain went. Without Config.Key, anybody who can
// write to the folder can rewrite all of it consistently; with a key that they do not have, they can only restore an
// older state of the whole folder. Anchors reveal that ([Store.Heads], [Store.VerifyAgainst]): they hold the state of
// the chains elsewhere, in the gateway's state or in a signed checkpoint. Or store the records where deletion is
// impossible (S3 Object Lock).
//
// Package records and tests import it. Start with [Open] and [Store.Append].
package filerecords
