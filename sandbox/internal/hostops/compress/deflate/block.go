package deflate

import "encoding/binary"

// maxSymbols is the number of symbols of a full block, at memory level 8.
const maxSymbols = 1<<14 - 1

// A symbol is a literal, or a match: its length less three and its distance. A literal has the distance 0.
type symbol struct {
	dist  uint16
	value uint8
}

// The kinds of blocks.
const (
	stored = iota
	fixed
	dynamic
)

// blocks writes the blocks of a stream.
type blocks struct {
	builder
	out []byte
	// onlyFixed writes no codes of a block's own.
	onlyFixed bool
	pending   uint64 // bits that are no byte yet
	count     uint   // of them

	symbols           []symbol
	lits, dists, lens tree
}

func (b *blocks) init() {
	b.symbols = make([]symbol, 0, maxSymbols)
	b.lits = tree{size: symbols, most: maxBits, fixed: fixedLiterals, extra: extraLength[:], base: literals + 1}
	b.dists = tree{size: distances, most: maxBits, fixed: fixedDistances[:], extra: extraDist[:]}
	b.lens = tree{size: codeLens, most: maxLenBits, extra: extraCode[:]}
	b.begin()
}

// begin starts a block.
func (b *blocks) begin() {
	b.symbols = b.symbols[:0]
	clear(b.lits.freq[:symbols])
	clear(b.dists.freq[:distances])
	clear(b.lens.freq[:codeLens])
	b.lits.freq[endOfBlock] = 1
}

// literal adds a byte to the block and reports whether the block is full.
func (b *blocks) literal(c byte) bool {
	b.symbols = append(b.symbols, symbol{0, c})
	b.lits.freq[c]++
	return len(b.symbols) == maxSymbols
}

// match adds a match to the block and reports whether the block is full.
func (b *blocks) match(dist, length int) bool {
	b.symbols = append(b.symbols, symbol{uint16(dist), uint8(length - minMatch)})
	b.lits.freq[int(lengthCode[length-minMatch])+literals+1]++
	b.dists.freq[distCode(dist-1)]++
	return len(b.symbols) == maxSymbols
}

func (b *blocks) put(value, n uint) {
	b.pending |= uint64(value) << b.count
	b.count += n
	for b.count >= 8 {
		b.out = append(b.out, byte(b.pending))
		b.pending >>= 8
		b.count -= 8
	}
}

func (b *blocks) putCode(c code) { b.put(uint(c.bits), uint(c.length)) }

// align fills the last byte.
func (b *blocks) align() {
	if b.count > 0 {
		b.out = append(b.out, byte(b.pending))
		b.pending, b.count = 0, 0
	}
}

func (b *blocks) header(kind int, last bool) {
	value := uint(kind << 1)
	if last {
		value++
	}
	b.put(value, 3)
}

// store writes data as it is.
func (b *blocks) store(data []byte, last bool) {
	b.header(stored, last)
	b.align()
	b.out = binary.LittleEndian.AppendUint16(b.out, uint16(len(data)))
	b.out = binary.LittleEndian.AppendUint16(b.out, ^uint16(len(data)))
	b.out = append(b.out, data...)
}

// finish writes the block in the shortest of the three ways. data is what it stands for; nil if that is gone.
func (b *blocks) finish(data []byte, last bool) {
	b.build(&b.lits)
	b.build(&b.dists)
	b.countLengths(&b.lits)
	b.countLengths(&b.dists)
	b.build(&b.lens)
	used := codeLens - 1
	for used >= 3 && b.lens.codes[codeOrder[used]].length == 0 {
		used--
	}
	own := (b.lits.bits + b.dists.bits + b.lens.bits + 3*(used+1) + 5 + 5 + 4 + 3 + 7) >> 3
	plain := (b.lits.fixedB + b.dists.fixedB + 3 + 7) >> 3
	if b.onlyFixed {
		own = plain
	}
	switch least := min(own, plain); {
	case data != nil && len(data)+4 <= least:
		b.store(data, last)
	case plain == least:
		b.header(fixed, last)
		b.write(fixedLiterals, fixedDistances[:])
	default:
		b.header(dynamic, last)
		b.put(uint(b.lits.last+1-257), 5)
		b.put(uint(b.dists.last), 5)
		b.put(uint(used+1-4), 4)
		for _, n := range codeOrder[:used+1] {
			b.put(uint(b.lens.codes[n].length), 3)
		}
		b.writeLengths(&b.lits)
		b.writeLengths(&b.dists)
		b.write(b.lits.codes[:], b.dists.codes[:])
	}
	b.begin()
	if last {
		b.align()
	}
}

// write writes the symbols of the block.
func (b *blocks) write(lits, dists []code) {
	for _, s := range b.symbols {
		if s.dist == 0 {
			b.putCode(lits[s.value])
			continue
		}
		c := lengthCode[s.value]
		b.putCode(lits[int(c)+literals+1])
		b.put(uint(int(s.value)-lengthBase[c])&(1<<extraLength[c]-1), uint(extraLength[c]))
		dist := int(s.dist) - 1
		d := distCode(dist)
		b.putCode(dists[d])
		b.put(uint(dist-distBase[d]), uint(extraDist[d]))
	}
	b.putCode(lits[endOfBlock])
}

// runs calls f for each run of equal code lengths of t that is written at once.
func (t *tree) runs(f func(length, count int, repeats bool)) {
	prior, next, count := -1, int(t.codes[0].length), 0
	most, least := 7, 4
	if next == 0 {
		most, least = 138, 3
	}
	for n := 0; n <= t.last; n++ {
		length := next
		next = -1
		if n < t.last {
			next = int(t.codes[n+1].length)
		}
		if count++; count < most && length == next {
			continue
		}
		switch {
		case count < least:
			for range count {
				f(length, 1, false)
			}
		case length != 0:
			if length != prior {
				f(length, 1, false)
				count--
			}
			f(length, count, true)
		default:
			f(0, count, true)
		}
		prior, count = length, 0
		switch {
		case next == 0:
			most, least = 138, 3
		case length == next:
			most, least = 6, 3
		default:
			most, least = 7, 4
		}
	}
}

// repeated returns the code for a repeated length, and the first count that it stands for.
func repeated(length, count int) (symbol, from int) {
	switch {
	case length != 0:
		return repeatPrior, 3
	case count <= 10:
		return repeatZero, 3
	}
	return repeatZeros, 11
}

func (b *blocks) countLengths(t *tree) {
	t.runs(func(length, count int, repeats bool) {
		if repeats {
			length, _ = repeated(length, count)
		}
		b.lens.freq[length]++
	})
}

func (b *blocks) writeLengths(t *tree) {
	t.runs(func(length, count int, repeats bool) {
		if !repeats {
			b.putCode(b.lens.codes[length])
			return
		}
		s, from := repeated(length, count)
		b.putCode(b.lens.codes[s])
		b.put(uint(count-from), uint(extraCode[s]))
	})
}
