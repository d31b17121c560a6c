// Package filerecords is the audit store on a folder of a local disk.
//
//	executions/dt=2006-01-02/exec_….json    one record each, never overwritten
//	audit-2006-01-02.jsonl                  the same lines, in the order they were written
//	writers/<ULID>.head                     the newest record of a writer that is open, held by a lock
//	writers/ledger.jsonl                    where each ended writer stopped, and what retention took away
//	torn/                                   halves of lines that a killed process left, for whoever wonders
//
// A record is filed under the UTC day in its id. Both layouts hold the same bytes: the sealed line of package audit.
//
// # Several processes
//
// Any number of processes open the same folder and write at once. Each Open is a writer with an id and a hash chain
// of its own; nobody waits for anybody, except for the microseconds in which a line goes to the day's file, under
// flock. The disk must be local: a network file system's locks and appends do not keep these promises.
//
// # What one Append does, and what a kill leaves
//
//  1. The head file announces the record: number, hash, id.
//  2. The record is written beside its place and renamed into it. The rename fails when a record of that id is there.
//  3. The line is appended to the day's file.
//  4. The head file confirms.
//
// A process killed before the rename has written nothing; killed after it, the next Open of anybody finds the dead
// writer's head (its lock is gone), completes the line and moves the head's content to the ledger. Half a line is
// found by the next append to that file, under the lock, and moved to torn/. An error on the way (a full disk) takes
// the steps back in reverse, so that an Append which failed left no record.
//
// # How safe a record is when Append returns
//
// By default it is with the kernel: the death of the process, by whatever signal, loses nothing; a power cut or a
// kernel crash may lose the last seconds, and then Verify names what is gone. With Config.Sync it is on the disk, at
// the price of four flushes (object, its name, line, head).
//
// Truncating a chain's tail is found because heads and ledger say how far each chain went. Without Config.Key
// somebody who may write to the folder can rewrite all of it consistently; with a key that they do not have they can
// only put back an older state of the whole folder. Against that there are anchors ([Store.Heads],
// [Store.VerifyAgainst]): what was known of the chains elsewhere, in the gateway's state or in a signed checkpoint.
// Or keep the records where deletion is impossible (S3 Object Lock).
package filerecords
