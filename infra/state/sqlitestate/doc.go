// Package sqlitestate keeps saved functions, jobs and accepted webhook deliveries in one SQLite file.
//
// What was acknowledged is on the disk: every change is a transaction of its own, in write-ahead mode, flushed before
// it is answered. Several processes may open the same folder. Each holds a lock on a file of its own for as long as
// it lives; the operating system lets go of it when the process dies, however it dies, and that is how the others
// learn that the jobs it was running are orphans.
//
// Secrets of hooks and callbacks, and the newest events of hooks, are in the file as they are: the folder is made for
// its owner alone (0700).
package sqlitestate
