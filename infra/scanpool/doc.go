// Package scanpool runs tasks in worker processes that can be killed: scanning hostile code may cost a parser far
// more than its size suggests.
//
// A worker is this program with a hidden subcommand. It exchanges tasks and answers over two pipes, one frame each:
// four bytes of length, big-endian, and the payload. It starts when it is first needed, reports that it is ready, and
// serves one task at a time until it is killed or renewed. A worker whose pool is gone ends by itself.
//
// The pool limits each task's processor time, which it reads from the kernel, and its wall time. It kills and
// replaces a worker that exceeds either, and a worker whose caller has hung up once it costs more than another worker
// would. [Serve] is the worker's side, and [Confine] limits the worker itself.
//
// Package wiring and tests import it. Start with [Pool.Do].
package scanpool
