// null is thrown.
// expect: error any
throw null;
