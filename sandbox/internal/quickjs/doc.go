// Package quickjs hosts the QuickJS engine (quickjs-ng 0.10.1, the WebAssembly build that github.com/fastschema/qjs
// ships) so that hostile JavaScript can be run in it.
//
// The life of a guest:
//
//	qjs.wasm ──rewrite──▶ module ──compile once──▶ Runtime ──run the standard library once──▶ Image
//	                                                                                           │ copy-on-write
//	                                                          Instance: one execution, dropped ◀┘
//
// The module is rewritten before it is compiled (module.go, fuel.go): debug information and data segments go, the C
// stack moves to a megabyte of its own, indirect calls go through dispatchers instead of a table that every instance would
// have to fill (dispatch.go), the parser notes where every expression stands (positions.go), an
// error's stack is worded by the host (backtrace.go), which is told of rejections that nobody handles (rejections.go), and
// every loop in C counts down a fuel counter. When it runs out, and every 10,000 calls or back-edges of interpreted code, the guest comes out to
// Go: the poll. The poll is the only place where a guest is stopped, and nothing the guest does can catch or prevent it.
//
// An Image is the linear memory of an instance in which the standard library has been evaluated. Every Instance starts
// as a copy-on-write view of it, so the size of the library costs an execution nothing.
//
// What compiling a script does to memory can be taken down, and done to other fresh instances (compiled.go).
//
// Compiling takes most of a second and is done once for a cache folder; checking what has been compiled takes half of what a
// start would, and is not done again (shell.go). The folder is as trusted as the program.
//
// The walls are: WebAssembly's own bounds, the WASI functions that all refuse (wasi.go), the single host call whose
// arguments are validated in Go, and bounds-checked reads of guest memory (value.go). Everything in guest memory is
// hostile once guest code has run.
//
// Offsets into the engine's structures are in layout.go beside the hash of the build they belong to.
package quickjs
