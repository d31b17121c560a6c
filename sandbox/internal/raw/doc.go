// Package raw holds the access that conformance suites need and callers must not have: code that runs as plain global
// scripts, and an engine without the library. Only packages below sandbox can use its types. Start with [Program].
package raw
