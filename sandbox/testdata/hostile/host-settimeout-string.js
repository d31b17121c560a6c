// setTimeout does not evaluate strings.
// expect: error TypeError
setTimeout('globalThis.x = 1', 0)
