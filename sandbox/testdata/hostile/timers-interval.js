// An interval that is never cleared, and nothing returned.
// expect: limit wall
setInterval(() => {}, 0);
