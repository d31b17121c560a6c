// An endless loop.
// expect: limit wall
for (;;) {}
