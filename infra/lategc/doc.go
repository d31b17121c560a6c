// Package lategc keeps the garbage collector from running while the packages of a program are initialised. That leaves
// six megabytes of garbage in the programs here, two collections by Go's default, which take a fifth of a short run.
//
// A main package imports it and calls [Start] first, and so do its tests. No other package may import it: a program
// that does not call Start collects only at 256 MiB, and then all the time. The Go runtime initialises packages in the
// order of their paths, as soon as what they import is initialised, so few packages come before this one, which imports
// little.
package lategc
