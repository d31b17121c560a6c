// Package wasm reads WebAssembly 1.0 modules and copies their functions with changes.
//
// [Parse] returns what a module declares: types, imports, functions, globals, exports, data, and the names of its name
// section. [Next] steps through the instructions of a function body. The package knows nothing of any engine; package
// quickjs decides what to look for and what to change.
//
// Every function is safe on arbitrary bytes: it returns an error instead of reading past the end, and its work is
// linear in the module's length.
//
// Only packages quickjs, rewrite and libm import it.
package wasm
