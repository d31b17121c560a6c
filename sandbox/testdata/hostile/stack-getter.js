// A getter that reads itself.
// expect: limit stack
({ get a() { return this.a; } }).a
