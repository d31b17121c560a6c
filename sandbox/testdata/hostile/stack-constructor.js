// A constructor that constructs itself.
// expect: limit stack
class A { constructor() { new A(); } }
new A()
