// Package functions keeps code under a name. What is saved becomes a version, which never changes; the same content
// is the same version. Aliases point at versions and move at once; "latest" is the one that every function has and
// that saving moves. A hook and a schedule say when a function runs by itself; they belong to the function, not to a
// version, so that a secret can be changed without new code.
//
// Code that exports a function (export default, export function handler, module.exports) is evaluated once by a
// function process, up to that function, and every call starts there; so do the imports of other code. A version
// whose top level needs more than itself is evaluated by each call, and says why (coldReason). What a version runs is
// sent to a function process once and named by its hash from then on.
package registry
