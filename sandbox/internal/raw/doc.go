// Package raw holds what conformance suites need of the sandbox and callers must not have: code that runs as plain
// global scripts, and an engine without the library. Its types can be named below package sandbox only.
package raw
