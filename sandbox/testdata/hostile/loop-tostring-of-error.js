// An error whose message loops when it is read.
// expect: limit wall
throw { get message() { for (;;) {} } }
