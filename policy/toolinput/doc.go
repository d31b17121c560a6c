// Package toolinput lets a tool ask a person for input while it is called: the tool fails with a [Request], a person
// answers, and the call is made again with a [Round]. The sandbox pauses in between, and the package that speaks to the
// tool's server translates both.
//
// Every room may import the package; it imports nothing of the module. Start with [Request].
package toolinput
