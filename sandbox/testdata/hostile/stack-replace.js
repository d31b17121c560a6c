// A replacer that replaces with itself.
// expect: limit stack
const r = () => 'a'.replace(/a/, r);
r()
