// Command peers measures Airlock against what people use in its place, on this machine and in one run, and prints the
// ratios:
//
//	make bench-peers
//
// In process: a fresh sandbox, a ten-line script and its result, against isolated-vm (a new isolate each time) and
// quickjs-emscripten (a new context in a shared instance, and a new instance). Over HTTP: POST /api/execute through
// gateway, function process and audit record, against a bare Node server that makes an isolate per request, and against
// a server as bare around Airlock's own sandbox, which shows what gateway, process boundary and record cost.
//
// The rounds alternate, so that a machine whose speed drifts slows all of them. It needs node and npm; the peers are
// installed from npm, at the versions in package.json, into a folder outside this repository.
package main
