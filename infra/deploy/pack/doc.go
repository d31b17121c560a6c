// Command pack builds the zips that template.yaml deploys:
//
//	go run ./infra/deploy/pack [-out dist] [-arch arm64,x86_64] [-use arm64] [-twice] [-cold 20] [-packages DIR]
//
// For each architecture it builds the function and the gateway without cgo and without traces of this machine, runs
// the function once to fill the compilation cache (another architecture's under qemu-user), and writes
// airlock-function-ARCH.zip and airlock-gateway-ARCH.zip with sorted entries and fixed times: the same sources and
// the same Go give the same bytes.
//
// It then starts each packaged function from its zip against a local Runtime API, runs code and sends it every event
// of infra/deploy/events, and lets each packaged gateway serve as a function behind a Function URL. It fails if one of
// them does not answer, if a function had to compile, or if a function's zip is larger than 17 MB. SHA256SUMS lists
// the zips.
//
//	-use    copies one architecture's zips to function.zip and gateway.zip, the names in template.yaml
//	-twice  builds everything a second time and compares
//	-packages  puts a folder of npm packages, which airlock packages add filled, beside the function's program, where it
//	        finds them, and their images into its cache. The zip may then have 50 MB
//	-image  writes the gateway as a container image in place of zips: an OCI layout in a tar file, one image for each
//	        architecture. It reads the file back and runs the program from it, as the image's user in the image's root
//	        folder where this user is root. It needs no container engine
//	-cold   starts the packaged function of this machine's architecture that many times as a fresh process and prints
//	        the parts of a start
package main
