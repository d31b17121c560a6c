// Package quickjs hosts WebAssembly builds of the QuickJS engine so that hostile JavaScript can be run in it.
//
// The life of a guest:
//
//	engine ──rewrite──▶ module ──compile once──▶ Runtime ──run the standard library once──▶ Image
//	                                                                                         │ copy-on-write
//	                                                        Instance: one execution, dropped ◀┘
//
// The builds are in build.go, each pinned by its hash. Package rewrite finds in a build what the host must know of it
// and rewrites the module before it is compiled. Loops in C count down fuel. When it runs out, and after every 10,000
// calls or back-edges of interpreted code, the guest calls Go: the poll. The poll is the only place where a guest is
// stopped, and nothing the guest does can catch or prevent it.
//
// An Image is the linear memory of an instance in which the standard library has been evaluated. Every Instance starts
// as a copy-on-write view of it, so the size of the library costs an execution nothing. Differences between builds that
// only a running guest shows are learned while an image is built (learn.go).
//
// The changes that compiling a script makes to memory are recorded and applied to other fresh instances (compiled.go).
//
// Compiling takes most of a second and is done once for a cache folder; checking the compiled module would take half of
// a start, and is not repeated (shell.go). The folder is as trusted as the program.
//
// The walls are: WebAssembly's own bounds, the WASI functions that all refuse (wasi.go), the single host call whose
// arguments are validated in Go, and bounds-checked reads of guest memory (value.go). Everything in guest memory is
// hostile once guest code has run.
//
// Package sandbox and packages below it import it. Start with [Runtime], then [Image] and [Instance].
package quickjs
