// Package scanpool runs tasks in worker processes that can be killed: the reading of hostile code, which may cost a
// parser far more than its size.
//
// A worker is this program with a hidden subcommand. It gets tasks and gives answers over two pipes, one frame each:
// four bytes of length, big-endian, and the payload. It starts when it is first needed, says that it is ready, and
// serves one task at a time until it is killed or renewed. A worker whose pool is gone ends by itself.
//
// The pool holds each task to an amount of processor time, which it reads from the kernel, and to a time by the
// clock. A worker that exceeds either is killed and replaced, and so is one whose caller has hung up, once it costs
// more than another worker would. [Serve] is the worker's side, and [Confine] the limits that a worker puts upon
// itself.
package scanpool
