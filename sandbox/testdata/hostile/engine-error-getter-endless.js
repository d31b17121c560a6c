// An error whose message takes forever.
// expect: limit wall
throw Object.defineProperty(new Error('x'), 'message', { get() { for (;;); } });
