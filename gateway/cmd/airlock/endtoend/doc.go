// Package endtoend holds tests of the whole path: a real socket, the gateway, real function processes, real sandboxes
// and records on disk. It exports nothing.
package endtoend
