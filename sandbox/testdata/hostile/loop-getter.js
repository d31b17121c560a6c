// A getter that loops, reached through JSON.
// expect: limit wall
JSON.stringify({ get a() { for (;;) {} } })
