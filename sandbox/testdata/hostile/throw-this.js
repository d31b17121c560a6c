// An object that throws itself when it is printed.
// expect: error any
throw { toString() { throw this; }, get message() { throw this; }, get stack() { throw this; }, get name() { throw this; } };
