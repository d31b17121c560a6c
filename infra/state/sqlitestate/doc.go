// Package sqlitestate stores saved functions, jobs and accepted webhook deliveries in one SQLite file, and their large
// contents in files beside it.
//
// Everything that was acknowledged is on disk: every change is a transaction in write-ahead mode that is flushed
// before the answer. Several processes may open the same folder. Each holds a lock on a file of its own for its life;
// the operating system releases it when the process dies, which tells the others that its running jobs are orphans.
//
// A content of 256 KiB or more has a file of its own, which is flushed before the transaction that names it commits,
// and deleted after the one that no longer does. Files that a dead process left are deleted at the next start.
//
// Secrets of hooks and callbacks, and the newest events of hooks, are stored in clear: only the owner can access the
// folder (0700).
//
// Package wiring and tests import it. Start with [Open].
package sqlitestate
