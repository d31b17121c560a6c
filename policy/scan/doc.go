// Package scan finds threats in JavaScript and TypeScript: places that acquire or use a power of the host.
//
// A scan is advice that may block. Isolation never depends on it, and the sandbox holds with the scan switched off. The
// scan works on the syntax tree and follows names through aliases, destructuring, computed and folded strings, Reflect,
// Proxy and bound functions. What merely looks like an attack in a comment, a string or a property name is no finding.
//
// A scan is bounded in depth and in work. Work is counted and grows with the size of the code, so the same code always
// has the same result. Some code is scanned by its tokens alone, marked unanalysed and scored medium: code that no
// parser here accepts, although the engine might, and code that would take too much work.
//
// Start with [Scanner.Scan]. [Source] scans a single source. Package policy imports this package, as do the processes
// that scan on behalf of others; it imports only leaves below policy.
package scan
