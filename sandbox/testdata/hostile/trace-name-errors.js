// Getters that make errors while the stack of an error is made end at the stack, not in the engine.
// expect: value "function"
class Again extends Error { get name() { return new Again('m').stack; } }
try { new Again('m') } catch {}
typeof Again
