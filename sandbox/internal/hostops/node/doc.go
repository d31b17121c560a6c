// Package node has the operations behind Node's modules: buffers, hashes and ciphers, which every guest may call, and
// the answer to whether a run may load a module at all. Start at [Ops]. Only package sandbox imports it.
package node
