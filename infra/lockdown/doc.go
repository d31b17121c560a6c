// Package lockdown takes from this process, for good, what a function process has no use for. It is the wall behind
// the wasm wall: a guest that got out of its sandbox finds a process that can start no program, touch no other
// process, and reach no file and no socket but what [Config] leaves it. A sealed process keeps the descriptors that
// are open, and no call that takes a path or an address.
//
// [Enforce] is called once, when everything is loaded. On Linux it stacks three walls, from kept pure-Go libraries
// and without privileges: no_new_privs, Landlock (files, TCP ports, signals to others) and seccomp (system calls).
// What the kernel lacks is reported, not an error: Lambda's kernel may have no Landlock. Elsewhere no wall stands.
package lockdown
