package deflate

import "math/bits"

const (
	literals   = 256
	endOfBlock = 256
	lengths    = 29
	symbols    = literals + 1 + lengths
	distances  = 30
	codeLens   = 19
	heapSize   = 2*symbols + 1
	maxBits    = 15
	maxLenBits = 7 // of the code lengths
	// Codes of repeated code lengths.
	repeatPrior = 16 // 3 to 6 times
	repeatZero  = 17 // 3 to 10 times
	repeatZeros = 18 // 11 to 138 times
)

var (
	extraLength = [lengths]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	extraDist   = [distances]uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11,
		12, 12, 13, 13}
	extraCode = [codeLens]uint8{repeatPrior: 2, repeatZero: 3, repeatZeros: 7}
	codeOrder = [codeLens]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

	lengthCode [maxMatch - minMatch + 1]uint8
	lengthBase [lengths]int
	distBase   [distances]int

	fixedLiterals  = fixedCodes()
	fixedDistances [distances]code
)

func init() {
	length := 0
	for c := range lengths - 1 {
		lengthBase[c] = length
		for range 1 << extraLength[c] {
			lengthCode[length] = uint8(c)
			length++
		}
	}
	lengthCode[maxMatch-minMatch] = lengths - 1
	dist := 0
	for c := range distances {
		distBase[c] = dist
		dist += 1 << extraDist[c]
		fixedDistances[c] = code{bits: bits.Reverse16(uint16(c)) >> 11, length: 5}
	}
}

// distCode returns the code of a distance less one.
func distCode(dist int) int {
	if dist < 4 {
		return dist
	}
	n := bits.Len(uint(dist)) - 2
	return 2*n + dist>>n
}

// A code is a Huffman code, with its first bit lowest.
type code struct{ bits, length uint16 }

// fixedCodes returns the codes of literals and lengths in blocks without codes of their own.
func fixedCodes() []code {
	codes := make([]code, symbols+2)
	for n := range codes {
		switch {
		case n <= 143, n >= 280:
			codes[n].length = 8
		case n <= 255:
			codes[n].length = 9
		default:
			codes[n].length = 7
		}
	}
	assign(codes)
	return codes
}

// assign sets the bits of the codes by their lengths.
func assign(codes []code) {
	var count, next [maxBits + 2]uint16
	for _, c := range codes {
		count[c.length]++
	}
	count[0] = 0
	for n := 1; n <= maxBits; n++ {
		next[n] = (next[n-1] + count[n-1]) << 1
	}
	for i := range codes {
		if n := codes[i].length; n > 0 {
			codes[i].bits = bits.Reverse16(next[n]) >> (16 - n)
			next[n]++
		}
	}
}

// A tree is a Huffman tree of the symbols of a block.
type tree struct {
	freq   [heapSize]uint32
	dad    [heapSize]uint16
	codes  [heapSize]code
	last   int    // the largest symbol with a code
	size   int    // the number of symbols
	most   int    // the length of the longest code allowed
	fixed  []code // the codes of a block without codes of its own; nil for none
	extra  []uint8
	base   int // the first symbol with extra bits
	bits   int // of the block with these codes, and with the fixed ones
	fixedB int
}

// builder is what the trees of a writer share while they are built.
type builder struct {
	heap      [heapSize]uint16
	len, most int
	depth     [heapSize]uint8
}

func (b *builder) smaller(t *tree, n, m uint16) bool {
	return t.freq[n] < t.freq[m] || t.freq[n] == t.freq[m] && b.depth[n] <= b.depth[m]
}

// sink moves the node at k down to its place in the heap.
func (b *builder) sink(t *tree, k int) {
	v := b.heap[k]
	for j := 2 * k; j <= b.len; j *= 2 {
		if j < b.len && b.smaller(t, b.heap[j+1], b.heap[j]) {
			j++
		}
		if b.smaller(t, v, b.heap[j]) {
			break
		}
		b.heap[k] = b.heap[j]
		k = j
	}
	b.heap[k] = v
}

// build computes the codes of t by the frequencies of its symbols, and the bits of a block.
func (b *builder) build(t *tree) {
	b.len, b.most, t.last = 0, heapSize, -1
	t.bits, t.fixedB = 0, 0
	for n := range t.size {
		t.codes[n].length = 0
		if t.freq[n] != 0 {
			b.len++
			b.heap[b.len], b.depth[n], t.last = uint16(n), 0, n
		}
	}
	for b.len < 2 { // there must be two codes
		n := 0
		if t.last < 2 {
			t.last++
			n = t.last
		}
		b.len++
		b.heap[b.len], b.depth[n], t.freq[n] = uint16(n), 0, 1
		t.bits--
		if t.fixed != nil {
			t.fixedB -= int(t.fixed[n].length)
		}
	}
	for n := b.len / 2; n >= 1; n-- {
		b.sink(t, n)
	}
	for node := uint16(t.size); ; node++ {
		n := b.heap[1]
		b.heap[1] = b.heap[b.len]
		b.len--
		b.sink(t, 1)
		m := b.heap[1]
		b.most -= 2
		b.heap[b.most+1], b.heap[b.most] = n, m
		t.freq[node] = t.freq[n] + t.freq[m]
		b.depth[node] = max(b.depth[n], b.depth[m]) + 1
		t.dad[n], t.dad[m] = node, node
		b.heap[1] = node
		b.sink(t, 1)
		if b.len < 2 {
			break
		}
	}
	b.most--
	b.heap[b.most] = b.heap[1]
	b.measure(t)
	assign(t.codes[:t.last+1])
}

// measure computes the lengths of the codes.
func (b *builder) measure(t *tree) {
	var count [maxBits + 1]int
	t.codes[b.heap[b.most]].length = 0
	over := 0
	for _, n := range b.heap[b.most+1:] {
		length := int(t.codes[t.dad[n]].length) + 1
		if length > t.most {
			length = t.most
			over++
		}
		t.codes[n].length = uint16(length)
		if int(n) > t.last {
			continue // it is no symbol
		}
		count[length]++
		extra := 0
		if int(n) >= t.base {
			extra = int(t.extra[int(n)-t.base])
		}
		t.bits += int(t.freq[n]) * (length + extra)
		if t.fixed != nil {
			t.fixedB += int(t.freq[n]) * (int(t.fixed[n].length) + extra)
		}
	}
	if over == 0 {
		return
	}
	for ; over > 0; over -= 2 {
		length := t.most - 1
		for count[length] == 0 {
			length--
		}
		count[length]--
		count[length+1] += 2
		count[t.most]--
	}
	h := heapSize
	for length := t.most; length != 0; length-- {
		for n := count[length]; n != 0; {
			h--
			m := b.heap[h]
			if int(m) > t.last {
				continue
			}
			t.bits += (length - int(t.codes[m].length)) * int(t.freq[m])
			t.codes[m].length = uint16(length)
			n--
		}
	}
}
