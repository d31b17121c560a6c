// A wait that would block the thread.
// expect: any
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
