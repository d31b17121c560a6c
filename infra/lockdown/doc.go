// Package lockdown confines this process irreversibly to what a function process needs. It is the second wall after
// WebAssembly: a guest that escapes from its sandbox is in a process that can start no program, affect no other
// process, and reach only the files and sockets that [Config] allows. A sealed process keeps its open descriptors and
// no call that takes a path or an address.
//
// [Enforce] is called once, after everything is loaded. On Linux it stacks three walls, from kept pure-Go libraries
// and without privileges: no_new_privs, Landlock (files, TCP ports, signals to others) and seccomp (system calls). A
// wall that the kernel lacks is reported and is no error: Lambda's kernel may have no Landlock. Other systems have no
// walls.
//
// [EndFirst] is for the process that starts such processes: when memory runs out, they end, and their owner replaces
// them.
//
// Packages process and wiring import it. Start with [Enforce].
package lockdown
