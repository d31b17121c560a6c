// Nested loops that restart each other.
// expect: limit wall
outer: for (;;) { for (;;) { continue outer; } }
