// A wait beyond the deadline.
// expect: limit wall
await new Promise((done) => setTimeout(done, 1e9));
