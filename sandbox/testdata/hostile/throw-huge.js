// An error with a huge message.
// expect: error any
throw new Error('x'.repeat(1e7));
