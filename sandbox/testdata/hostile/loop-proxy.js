// A Proxy trap that loops, reached through the result.
// expect: limit wall
new Proxy({}, { ownKeys() { for (;;) {} } })
