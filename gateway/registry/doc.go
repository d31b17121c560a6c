// Package registry keeps code under a name: saved functions.
//
// Saving makes a version, which never changes; saving the same content again returns the version that has it. Aliases
// point at versions and move atomically. Every function has the alias "latest", which saving moves. A hook and a
// schedule say when a function runs by itself. They belong to the function and not to a version, so that a secret can
// be changed without new code.
//
// Code that exports a function (export default, export function handler, module.exports) is evaluated once by a
// function process, up to that function, and every call starts there; the same holds for imports of other code. If the
// top level of a version depends on anything outside its code, each call evaluates it, and coldReason says why. A
// function process receives the sources of a version once; later calls name them by their hash.
//
// [Handlers] serve /api/functions, and [Registry.Bind] makes a submission run a version. Packages gateway and mcp
// import this package. Start with [Registry].
package registry
