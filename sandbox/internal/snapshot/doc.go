// Package snapshot defines the format of a run that waits. A snapshot holds enough to continue the run in another
// process.
//
// A snapshot is
//
//	19 bytes  "airlock snapshot 2\n"
//	32 bytes  the identity of the engine and of its library
//	 8 bytes  the length of the body, unsigned, little-endian
//	 4 bytes  the CRC-32C of the body, little-endian
//	          the body, as one block of Snappy
//
// The body is the fields of [State] in their order. A field is
//
//	unsigned  LEB128 of at most ten bytes, of which the last is not zero unless it is the only one
//	signed    the same of n<<1 ^ n>>63
//	bool      one byte, 0 or 1
//	float     8 bytes, IEEE 754, little-endian
//	bytes     the length as unsigned, and the bytes; a string is the same
//	hash      32 bytes
//	list      the number of elements as unsigned, and the fields of each
//	optional  a bool, and the value if it is true
//
// A snapshot of version 1 has no CRC, and its body is one frame of Zstandard with its content size and checksum.
//
// Equal states have equal bodies, and nothing else decodes: numbers have one spelling, and the body ends with its last
// field. Guest.Changes is described in package quickjs, at Delta.
//
// [Decode] is safe on arbitrary bytes. It allocates no more than its limit allows, and what it returns fits in that.
// Callers that store snapshots must encrypt and authenticate them.
//
// Package sandbox is the only importer. Start at [State].
package snapshot
