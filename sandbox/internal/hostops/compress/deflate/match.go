package deflate

import (
	"encoding/binary"
	"io"
)

const (
	minMatch = 3
	maxMatch = 258
	// minAhead is how many bytes must be ahead of the position unless the input ends: a match, and one byte.
	minAhead   = maxMatch + minMatch + 1
	windowSize = 1 << 15
	windowMask = windowSize - 1
	maxDist    = windowSize - minAhead
	hashSize   = 1 << 15
	// tooFar is the distance beyond which a match of three bytes is no gain.
	tooFar = 4096
	// maxStored is the length of the longest block that is stored.
	maxStored = 1<<16 - 1
)

// A level says how far matches are looked for.
type level struct {
	good  int // the length of a match from which less is tried for a better one
	lazy  int // the length from which no better one is looked for; without lazy matching, up to which parts are hashed
	nice  int // the length from which the search ends
	chain int // the number of candidates
}

var levels = [...]level{1: {4, 4, 8, 4}, {4, 5, 16, 8}, {4, 6, 32, 32}, {4, 4, 16, 16}, {8, 16, 32, 32},
	{8, 16, 128, 128}, {8, 32, 128, 256}, {32, 128, 258, 1024}, {32, 258, 258, 4096}}

// firstLazy is the first level that looks for a better match one byte later.
const firstLazy = 4

// When the work of a call ends.
const (
	more = iota
	flush
	finish
)

// Writer compresses to the raw format.
type Writer struct {
	w io.Writer
	blocks
	level
	strategy    Strategy
	lazyMatches bool
	stores      bool

	in     []byte // what is not in the window yet
	window [2*windowSize + 8]byte
	prev   [windowSize]uint16
	head   [hashSize]uint16
	// at is the position, ahead the number of bytes from it on, start the start of the block. insert is the number of
	// bytes before at that are not hashed yet.
	at, ahead, start, insert int
	found, length            int // the match at the position
	before                   int // the length of the match one byte before
	available                bool
}

// A Strategy is one of zlib's: which matches are taken, and which codes written.
type Strategy int

// The strategies: matches that are worth their bits, those of some length, none, those of the byte before, and fixed
// codes.
const (
	Default Strategy = iota
	Filtered
	HuffmanOnly
	RLE
	Fixed
)

// shortMatch is the length up to which Filtered takes no match.
const shortMatch = 5

// NewWriter returns a writer at one of zlib's levels, from 0 to 9; -1 is 6.
func NewWriter(w io.Writer, n int, strategy Strategy) *Writer {
	if n < 0 {
		n = 6
	}
	z := &Writer{w: w, level: levels[min(n, len(levels)-1)], strategy: strategy, lazyMatches: n >= firstLazy,
		stores: n == 0, length: minMatch - 1, before: minMatch - 1}
	z.init()
	z.onlyFixed = strategy == Fixed
	return z
}

// Preset makes the input refer to a dictionary, which the decoder must have, too. It comes before all input.
func (z *Writer) Preset(dictionary []byte) {
	if z.stores {
		return
	}
	z.in = dictionary[max(len(dictionary)-windowSize, 0):]
	for z.fill(); z.ahead >= minMatch; z.ahead-- {
		z.add(z.at)
		z.at++
	}
	z.at += z.ahead
	z.start, z.insert, z.ahead = z.at, z.ahead, 0
}

// Write implements io.Writer.
func (z *Writer) Write(p []byte) (int, error) {
	z.in = p
	z.step(more)
	return len(p), z.emit()
}

// Flush ends a block at a byte. What follows refers to nothing before.
func (z *Writer) Flush() error {
	z.step(flush)
	z.store(nil, false)
	clear(z.head[:])
	if z.ahead == 0 {
		z.at, z.start, z.insert = 0, 0, 0
	}
	return z.emit()
}

// Close ends the stream.
func (z *Writer) Close() error {
	z.step(finish)
	return z.emit()
}

func (z *Writer) emit() error {
	_, err := z.w.Write(z.out)
	z.out = z.out[:0]
	return err
}

func (z *Writer) step(until int) {
	switch {
	case z.stores:
		z.storeAll(until)
	case z.strategy == HuffmanOnly || z.strategy == RLE:
		z.simply(until)
	case z.lazyMatches:
		z.lazily(until)
	default:
		z.greedily(until)
	}
}

// storeAll stores the input.
func (z *Writer) storeAll(until int) {
	for len(z.in) > 0 {
		n := copy(z.window[z.ahead:maxStored], z.in)
		z.in, z.ahead = z.in[n:], z.ahead+n
		if z.ahead == maxStored && (len(z.in) > 0 || until == more) {
			z.store(z.window[:z.ahead], false)
			z.ahead = 0
		}
	}
	if until == finish || until == flush && z.ahead > 0 {
		z.store(z.window[:z.ahead], until == finish)
		z.ahead = 0
	}
}

// add hashes the four bytes at a position and returns the position of the last four with their hash; 0
// for none.
func (z *Writer) add(at int) int {
	h := (binary.LittleEndian.Uint32(z.window[at:])*66521 + 66521) >> 16 % hashSize
	last := z.head[h]
	z.prev[at&windowMask], z.head[h] = last, uint16(at)
	return int(last)
}

// fill moves input to the window.
func (z *Writer) fill() {
	for {
		room := 2*windowSize - z.ahead - z.at
		if z.at >= windowSize+maxDist {
			copy(z.window[:windowSize], z.window[windowSize:2*windowSize])
			z.found -= windowSize
			z.at -= windowSize
			z.start -= windowSize
			z.insert = min(z.insert, z.at)
			slide(z.head[:])
			slide(z.prev[:])
			room += windowSize
		}
		if len(z.in) == 0 {
			return
		}
		n := copy(z.window[z.at+z.ahead:z.at+z.ahead+room], z.in)
		z.in, z.ahead = z.in[n:], z.ahead+n
		for z.insert > 0 && z.ahead+z.insert > minMatch {
			z.add(z.at - z.insert)
			z.insert--
		}
		if z.ahead >= minAhead || len(z.in) == 0 {
			return
		}
	}
}

// slide moves positions by the size of the window.
func slide(positions []uint16) {
	for i, p := range positions {
		positions[i] = p - min(p, windowSize)
	}
}

// ready reports whether there is enough ahead of the position.
func (z *Writer) ready(until int) bool {
	if z.ahead < minAhead {
		z.fill()
		if z.ahead < minAhead && until == more {
			return false
		}
	}
	return z.ahead > 0
}

// end writes the block up to the position.
func (z *Writer) end(last bool) {
	var data []byte
	if z.start >= 0 {
		data = z.window[z.start:z.at]
	}
	z.finish(data, last)
	z.start = z.at
}

// greedily takes the first match at each position.
func (z *Writer) greedily(until int) {
	for z.ready(until) {
		last := 0
		if z.ahead >= minMatch {
			last = z.add(z.at)
		}
		if last != 0 && z.at-last <= maxDist {
			z.length = z.longest(last)
		}
		var full bool
		if z.length >= minMatch {
			full = z.match(z.at-z.found, z.length)
			z.ahead -= z.length
			if z.length <= z.lazy && z.ahead >= minMatch {
				for range z.length - 1 {
					z.at++
					z.add(z.at)
				}
				z.at++
			} else {
				z.at += z.length
			}
			z.length = 0
		} else {
			full = z.literal(z.window[z.at])
			z.ahead--
			z.at++
		}
		if full {
			z.end(false)
		}
	}
	z.done(until)
}

// simply takes no matches but, with RLE, those of the byte before.
func (z *Writer) simply(until int) {
	for z.ready(until) {
		n := 0
		if z.strategy == RLE && z.ahead >= minMatch && z.at > 0 {
			for most := min(maxMatch, z.ahead); n < most && z.window[z.at+n] == z.window[z.at-1]; {
				n++
			}
		}
		var full bool
		if n >= minMatch {
			full = z.match(1, n)
		} else {
			n, full = 1, z.literal(z.window[z.at])
		}
		z.ahead -= n
		z.at += n
		if full {
			z.end(false)
		}
	}
	z.done(until)
}

// lazily takes a match unless there is a longer one at the next position.
func (z *Writer) lazily(until int) {
	for z.ready(until) {
		last := 0
		if z.ahead >= minMatch {
			last = z.add(z.at)
		}
		prior := z.found
		z.before, z.length = z.length, minMatch-1
		if last != 0 && z.before < z.lazy && z.at-last <= maxDist {
			z.length = z.longest(last)
			if z.length <= shortMatch && z.strategy == Filtered || z.length == minMatch && z.at-z.found > tooFar {
				z.length = minMatch - 1
			}
		}
		switch {
		case z.before >= minMatch && z.length <= z.before:
			final := z.at + z.ahead - minMatch
			full := z.match(z.at-1-prior, z.before)
			z.ahead -= z.before - 1
			for range z.before - 2 {
				if z.at++; z.at <= final {
					z.add(z.at)
				}
			}
			z.available, z.length = false, minMatch-1
			z.at++
			if full {
				z.end(false)
			}
		case z.available:
			if z.literal(z.window[z.at-1]) {
				z.end(false)
			}
			z.at++
			z.ahead--
		default:
			z.available = true
			z.at++
			z.ahead--
		}
	}
	if until != more && z.available {
		z.literal(z.window[z.at-1])
		z.available = false
	}
	z.done(until)
}

// done ends the last block.
func (z *Writer) done(until int) {
	if until == more {
		return
	}
	z.insert = min(z.at, minMatch-1)
	if until == finish || len(z.symbols) > 0 {
		z.end(until == finish)
	}
}

// longest returns the length of the longest match at the position among those that begin with candidate, and sets
// found to where it is.
func (z *Writer) longest(candidate int) int {
	best, nice, chain := z.before, min(z.nice, z.ahead), z.chain
	if z.before >= z.good {
		chain >>= 2
	}
	limit := max(z.at-maxDist, 0)
	scan := z.window[z.at : z.at+maxMatch]
	for {
		w := z.window[candidate : candidate+maxMatch]
		if w[best] == scan[best] && w[best-1] == scan[best-1] && w[0] == scan[0] && w[1] == scan[1] {
			n := 2
			for n < maxMatch && w[n] == scan[n] {
				n++
			}
			if n > best {
				z.found, best = candidate, n
				if n >= nice {
					break
				}
			}
		}
		candidate = int(z.prev[candidate&windowMask])
		if chain--; candidate <= limit || chain == 0 {
			break
		}
	}
	return min(best, z.ahead)
}
