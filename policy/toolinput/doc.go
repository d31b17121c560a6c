// Package toolinput lets a tool ask a person for input while it is called: the tool fails with a [Request], a person
// answers, and the call is made again with a [Round]. The sandbox pauses in between, and the package that talks to the
// tool's server translates both.
//
// Every package may import it; it imports nothing of the module. Start with [Request].
package toolinput
