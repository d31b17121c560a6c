// Package deflate compresses as zlib does, byte for byte, with its default memory level.
//
// Programs print the length of compressed data, compare it, and keep it in tests, so the encoder of the standard
// library, whose choices differ, would not do. A [Writer] finds matches as zlib's deflate.c does (match.go) and writes
// blocks as its trees.c does (block.go, tree.go). Its hash is that of the zlib in Node.
// A [Container] adds the header and the checksum of the zlib or the gzip format. At level 0 the blocks of long data
// have other lengths than zlib's, which depend on its output buffers.
//
// Only package compress imports this package. Start with [NewWriter].
package deflate
