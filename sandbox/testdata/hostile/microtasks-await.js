// An async loop that never waits for anything.
// expect: limit wall
for (;;) await null;
