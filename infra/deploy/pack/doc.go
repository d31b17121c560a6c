// Command pack makes the zips that template.yaml ships:
//
//	go run ./infra/deploy/pack [-out dist] [-arch arm64,x86_64] [-use arm64] [-twice] [-cold 20]
//
// For each architecture it builds the function and the gateway without cgo and without anything of this machine in
// them, runs the function once to fill the compilation cache (another architecture's under qemu-user), and writes
// airlock-function-ARCH.zip and airlock-gateway-ARCH.zip with sorted entries and fixed times: the same sources and
// the same Go give the same bytes. It then starts each packaged function from its zip against the local Runtime API
// and has it run code and answer every event of infra/deploy/events, and each packaged gateway serve as a function
// behind a Function URL. A zip that does not, that had to compile again, or a function's that is larger than 15 MB,
// is an error. SHA256SUMS lists what was made. -use copies one architecture's zips to function.zip and gateway.zip,
// the names in template.yaml. -twice makes everything a second time and compares. -cold starts the packaged function
// of this machine's architecture so many times, each time as a fresh process, and prints what a start is made of.
package main
