// An error that only looks like an exhausted stack names no limit.
// expect: error RangeError
throw new RangeError('Maximum call stack size exceeded')
