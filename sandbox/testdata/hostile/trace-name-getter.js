// The name of an error is asked for while its stack is made: a getter that never answers.
// expect: limit wall
class Slow extends Error { get name() { for (;;); } }
new Slow('m');
