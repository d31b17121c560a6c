// Package compress has the operations behind CompressionStream and DecompressionStream, and behind Node's zlib. A
// decompressor never makes the host hold more than a piece of its output, however little input that takes. Start at
// [Ops]. Only package sandbox imports it.
package compress
