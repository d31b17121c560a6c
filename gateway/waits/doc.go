// Package waits holds the rules by which a paused execution moves on, and protects its snapshot.
//
//	          ┌────────── a segment pauses ─────────────┐
//	          ▼                                         │
//	running ─Park─▶ paused ─Decide, Signal, Elapse─▶ answered ─Queue─▶ queued ─claim─▶ running
//	   │              │                                                                  │
//	   │              ├─▶ expired    Elapse, when the execution is too old                ├─▶ completed, error, timeout
//	   └─▶ ended      └─▶ cancelled                                                       └─▶ queued again, if its
//	                                                                                          process died
//
// A paused execution is a stored job: package jobs claims, runs, ends and calls back as for any other job. The
// functions here change an execution.Job in memory, and a store applies each change in one transaction, so that no
// operation is answered twice and only one process runs a segment. Answered is not a status of its own: it is a paused
// job with an answer that no segment has received.
//
// Every attempt at a segment has a record of its own, under an ID that is drawn when the segment is queued. A process
// that dies leaves the job with that ID. If the record says that the code of the segment failed, the job ends with that
// error. If it says that the segment paused or completed, the outcome was lost. If there is no record, the gateway
// writes one that says so, and one that says that the process of the function died is its own, too. In the last three
// cases the job is queued again under a new ID, and the same answers are applied again.
// Tools recognize the repeated calls by the ID of the execution and the number of the operation. A segment is repeated
// ten times at most.
//
// [Keys] encrypts snapshots. Start with [Park]. Packages gateway and gateway/jobs import this package.
package waits
