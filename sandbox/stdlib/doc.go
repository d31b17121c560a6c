// Package stdlib is the JavaScript that every guest starts with. It is evaluated once, while the image is built, so its
// size costs an execution nothing.
//
// Files are evaluated in the order of Library. Each is a function of (host, internal): host is the raw host call, and
// internal a null-prototype object on which the files leave what the later ones need. Three rules keep guests out of
// it:
//
//   - Everything of the language that a file uses after start-up was captured in primordials.js before guest code ran.
//   - No iteration protocol, no spread, no assignment to array indexes or ordinary objects' properties: guests can put
//     accessors on the prototypes. Objects that hold state have a null prototype.
//   - Nothing here is privileged. A guest that reached the host call itself could ask for no more than its grants.
//
// Node's modules (node_*.js, fs.js) are ordinary code, without the second rule: a guest that changes what they stand on
// breaks its own copy and nothing else. They are made in the image; what require hands out is decided by the host.
package stdlib
