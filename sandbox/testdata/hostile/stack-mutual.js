// Two functions that call each other.
// expect: limit stack
const a = () => b(), b = () => a();
a()
