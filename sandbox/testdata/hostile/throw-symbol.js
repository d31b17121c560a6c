// A symbol is thrown.
// expect: error any
throw Symbol('x');
