// A toJSON that loops, reached through the result.
// expect: limit wall
({ toJSON() { for (;;) {} } })
