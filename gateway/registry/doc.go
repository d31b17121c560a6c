// Package registry keeps code under a name: saved functions.
//
// What is saved becomes a version. A version never changes, and the same content is the same version. Aliases point
// at versions and move at once. Every function has the alias "latest", which saving moves. A hook and a schedule say
// when a function runs by itself. They belong to the function and not to a version, so that a secret can be changed
// without new code.
//
// Code that exports a function (export default, export function handler, module.exports) is evaluated once by a
// function process, up to that function, and every call starts there; the same holds for imports of other code. A
// version whose top level needs more than itself is evaluated by each call, and says why (coldReason). What a version
// runs is sent to a function process once, and named by its hash from then on.
//
// [Handlers] serve /api/functions, and [Registry.Bind] has a submission run a version. Packages gateway and mcp
// import this package. Start with [Registry].
package registry
