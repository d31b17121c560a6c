package compress

import (
	"io"

	"github.com/andybalholm/brotli"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/compress/deflate"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Ops are the operations by name. Every guest may call them.
var Ops = map[string]hostops.Op{
	"zip.open":   zipOpen,
	"zip.write":  zipWrite,
	"unzip.open": unzipOpen,
	"unzip.step": unzipStep,
	"zip.drop":   zipDrop,
	"zlib":       zlibOp,
}

// streams are the open streams of a run.
type streams struct {
	compressors   handles[*compressor]
	decompressors handles[*openDecompressor]
	segments      int
}

func streamsOf(c *hostops.Call) *streams {
	s := hostops.State[streams](c)
	if n := c.Segments(); n > 0 && s.segments != n {
		s.segments = n
		s.compressors.next, s.decompressors.next = int32(n)<<segmentShift, int32(n)<<segmentShift
	}
	return s
}

// segmentShift keeps the numbers of streams of different segments apart.
const segmentShift = 16

// errLost refuses a stream that is not there.
func errLost(c *hostops.Call) error {
	if c.Segments() > 0 {
		return hostops.Throw("InvalidStateError", "the stream was open while the code waited: streams do not outlast a wait")
	}
	return hostops.ErrForged
}

// handles holds values that the host keeps for the guest between operations, under numbers that it hands out.
type handles[T any] struct {
	byID map[int32]T
	next int32
}

func (h *handles[T]) add(v T) int32 {
	if h.byID == nil {
		h.byID = make(map[int32]T)
	}
	h.next++
	h.byID[h.next] = v
	return h.next
}

func (h *handles[T]) get(v quickjs.Value) (x T, id int32, ok bool) {
	id, ok = v.Int()
	if ok {
		x, ok = h.byID[id]
	}
	return x, id, ok
}

const (
	maxCompressors   = 16
	maxDecompressors = 64
)

// The maximal cost of compressing, in units of work a byte and in bytes of the host's memory. A block of brotli is
// compressed at once. Qualities above maxBrotli would take more than ten times as long for a few hundredths of the
// size, a block at a time.
const (
	maxBrotli        = 6
	brotliWork       = 100
	brotliBlock      = 64 << 10
	brotliRoom       = 16 << 20
	deflateWork      = 400
	deflateWorkBest  = 1200 // from level 7
	deflateRoom      = 320 << 10
	inflateRoom      = 128 << 10
	unbrotliRoom     = 4 << 20 // and the window
	decompressedWork = 8       // a byte that comes out
	compressedWork   = 250     // a byte that goes in
	feedBytes        = 8 << 10 // that are handed in between two polls
)

// flusher is a writer that can end a block before its end.
type flusher interface {
	io.WriteCloser
	Flush() error
}

// packing is a way to compress.
type packing struct {
	open         func(io.Writer) flusher
	room         int64
	weight, size int // of work: units a byte, and bytes at a time
}

// packingOf returns the compression of a format at a level of zlib or a quality of brotli; -1 is the format's
// default. Formats other than gzip and brotli take a dictionary. strategy is zlib's.
func packingOf(format string, level int, dictionary []byte, strategy int32) (packing, bool) {
	kind := deflate.Strategy(strategy)
	if kind < deflate.Default || kind > deflate.Fixed {
		return packing{}, false
	}
	p := packing{room: deflateRoom, weight: deflateWork, size: hostops.MinPiece}
	if level > 6 {
		p.weight = deflateWorkBest
	}
	level = min(level, 9)
	switch format {
	case "gzip":
		p.open = func(w io.Writer) flusher { return deflate.NewGzip(w, level, kind) }
	case "deflate":
		p.open = func(w io.Writer) flusher {
			z := deflate.NewZlib(w, level, kind)
			z.Preset(dictionary)
			return z
		}
	case "deflate-raw":
		p.open = func(w io.Writer) flusher {
			z := deflate.NewWriter(w, level, kind)
			z.Preset(dictionary)
			return z
		}
	case "brotli":
		quality := min(max(level, 0), maxBrotli)
		p = packing{room: brotliRoom, weight: brotliWork, size: brotliBlock}
		p.open = func(w io.Writer) flusher { return brotli.NewWriterLevel(w, quality) }
	default:
		return p, false
	}
	return p, true
}

// write compresses data into w.
func (p packing) write(c *hostops.Call, w io.Writer, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), p.size)
		if err := c.Work(p.weight * n); err != nil {
			return err
		}
		if _, err := w.Write(data[:n]); err != nil {
			return err // out is memory: its errors are the run's end
		}
		data = data[n:]
	}
	return c.Work(p.weight * p.size) // Flush or Close compresses what is left
}

// compressor is a compression stream. Its output goes to the guest at once.
type compressor struct {
	packing
	flusher
	out hostops.Buffer
}

// zipOpen answers zip.open(format, level, dictionary or nothing, strategy): it opens a compression stream and returns
// its number. Without a level it has the format's default.
func zipOpen(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	if len(streamsOf(c).compressors.byID) >= maxCompressors {
		return 0, hostops.Throwf("QuotaExceededError", "more than %d compression streams are open", maxCompressors)
	}
	format, _ := c.Word(a[0], 16)
	level, given := a[1].Int()
	if !given {
		level = -1
	}
	if !given && format == "brotli" {
		level = maxBrotli
	}
	dictionary, err := dictionaryOf(c, a[2])
	if err != nil {
		return 0, err
	}
	strategy, ok := a[3].Int()
	if !ok {
		strategy = 0
	}
	p, ok := packingOf(format, int(level), dictionary, strategy)
	if !ok || level < -1 || level > 11 {
		return 0, hostops.ErrForged
	}
	if err := c.Charge(p.room); err != nil {
		return 0, err
	}
	z := &compressor{packing: p}
	z.flusher = p.open(&z.out)
	return quickjs.Int(streamsOf(c).compressors.add(z)), nil
}

// What follows the bytes of zip.write.
const (
	zipMore = iota
	zipLast
	zipFlush
)

// zipWrite answers zip.write(number, bytes, then): it returns what was compressed by then. zipFlush ends a block, so
// that the output holds all of the input.
func zipWrite(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	z, id, ok := streamsOf(c).compressors.get(a[0])
	if !ok {
		return 0, errLost(c)
	}
	data, err := c.View(a[1])
	if err != nil {
		return 0, err
	}
	z.out = hostops.Buffer{C: c}
	if err := z.write(c, z, data); err != nil {
		return 0, err
	}
	switch then, _ := a[2].Int(); then {
	case zipMore:
	case zipFlush:
		if err := z.Flush(); err != nil {
			return 0, err
		}
	default:
		dropCompressor(c, id, z)
		if err := z.Close(); err != nil {
			return 0, err
		}
	}
	v, err := c.NewBytes(z.out.B)
	z.out = hostops.Buffer{}
	return v, err
}

func dropCompressor(c *hostops.Call, id int32, z *compressor) {
	delete(streamsOf(c).compressors.byID, id)
	c.Release(z.room)
}

// zipDrop answers zip.drop(compresses, number): it drops a stream that the guest has given up.
func zipDrop(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	if compresses, _ := a[0].Int(); compresses != 0 {
		if z, id, ok := streamsOf(c).compressors.get(a[1]); ok {
			dropCompressor(c, id, z)
		}
		return quickjs.Undefined, nil
	}
	if d, id, ok := streamsOf(c).decompressors.get(a[1]); ok {
		dropDecompressor(c, id, d)
	}
	return quickjs.Undefined, nil
}
