// Package functions keeps code under a name. What is saved becomes a version, which never changes; the same content is
// the same version. Aliases point at versions and move at once; "latest" is the one that every function has and that
// saving moves. A hook and a schedule say when a function runs by itself; they belong to the function, not to a version,
// so that a secret can be changed without new code.
package functions
