// Package stdlib is the JavaScript that every guest starts with. It is evaluated once, while the image is built, so its
// size costs an execution nothing.
//
// Files are evaluated in the order of Library. Each is a function of (host, internal): host is the raw host call, and
// internal a null-prototype object through which a file exports to later files. Three rules keep guests out of it:
//
//   - After start-up, a file uses only built-ins that primordials.js captured before guest code ran.
//   - A file uses no iteration protocol and no spread, and assigns to no array index and no property of an ordinary
//     object: guests can define accessors on the prototypes. Objects that hold state have a null prototype.
//   - Nothing here is privileged. A guest that obtained the host call could do no more than its grants permit.
//
// Node's modules (node_*.js, streams_bundle.js, fs.js) are ordinary code without the second rule: a guest that changes
// the built-ins they use breaks only its own copy. They are created in the image; the host decides which of
// them require returns.
package stdlib
