package sandbox

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"

	"github.com/andybalholm/brotli"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// streamOps are the operations behind CompressionStream and DecompressionStream.
var streamOps = map[string]syncOp{
	"zip.open":   zipOpen,
	"zip.write":  zipWrite,
	"unzip.open": unzipOpen,
	"unzip.step": unzipStep,
	"zip.drop":   zipDrop,
}

// handles are what the host keeps for the guest between operations, by numbers that it gives out.
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

// What compressing takes at most, in units a byte and in bytes of the host's memory. A block of brotli is compressed at once.
// Qualities above maxBrotli would take more than ten times as long for a few hundredths of the size, a block at a time.
const (
	maxBrotli        = 6
	brotliWork       = 100
	brotliBlock      = 64 << 10
	brotliRoom       = 16 << 20
	deflateWork      = 400
	deflateWorkBest  = 1200 // from level 7
	deflateRoom      = 832 << 10
	inflateRoom      = 128 << 10
	unbrotliRoom     = 4 << 20 // and the window
	decompressedWork = 8       // a byte that comes out
	compressedWork   = 250     // a byte that goes in
	feedBytes        = 8 << 10 // that are handed in between two polls
)

// packing is how something is compressed.
type packing struct {
	open         func(io.Writer) (io.WriteCloser, error)
	room         int64
	weight, size int // of work: units a byte, and bytes at a time
}

// packingOf returns the compression of a format at a level of zlib's, or a quality of brotli's; -1 is its own default.
func packingOf(format string, level int) (packing, bool) {
	p := packing{room: deflateRoom, weight: deflateWork, size: minPiece}
	if level > 6 {
		p.weight = deflateWorkBest
	}
	level = min(level, flate.BestCompression)
	switch format {
	case "gzip":
		p.open = func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, level) }
	case "deflate":
		p.open = func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, level) }
	case "deflate-raw":
		p.open = func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, level) }
	case "brotli":
		quality := min(max(level, 0), maxBrotli)
		p = packing{room: brotliRoom, weight: brotliWork, size: brotliBlock}
		p.open = func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, quality), nil }
	default:
		return p, false
	}
	return p, true
}

// write has w compress data.
func (p packing) write(c *call, w io.Writer, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), p.size)
		if err := c.work(p.weight * n); err != nil {
			return err
		}
		if _, err := w.Write(data[:n]); err != nil {
			return err // out is memory: its errors are the run's end
		}
		data = data[n:]
	}
	return c.work(p.weight * p.size) // closing compresses what is left
}

// compressor is a compression stream. What it has written goes to the guest at once.
type compressor struct {
	packing
	io.WriteCloser
	out growing
}

// zipOpen(format) gives a number.
func zipOpen(c *call, a []quickjs.Value) (quickjs.Value, error) {
	if len(c.web.compressors.byID) >= maxCompressors {
		return 0, refused("QuotaExceededError", "more than %d compression streams are open", maxCompressors)
	}
	format, _ := c.word(a[0], 16)
	level := -1
	if format == "brotli" {
		level = maxBrotli
	}
	p, ok := packingOf(format, level)
	if !ok {
		return 0, errForged
	}
	if err := c.charge(p.room); err != nil {
		return 0, err
	}
	z := &compressor{packing: p}
	var err error
	if z.WriteCloser, err = p.open(&z.out); err != nil {
		return 0, err
	}
	return quickjs.Int(c.web.compressors.add(z)), nil
}

// zipWrite(number, bytes, last) gives what has been compressed by then.
func zipWrite(c *call, a []quickjs.Value) (quickjs.Value, error) {
	z, id, ok := c.web.compressors.get(a[0])
	if !ok {
		return 0, errForged
	}
	data, err := c.view(a[1])
	if err != nil {
		return 0, err
	}
	z.out = growing{c: c}
	if err := z.write(c, z, data); err != nil {
		return 0, err
	}
	if last, _ := a[2].Int(); last != 0 {
		c.dropCompressor(id, z)
		if err := z.Close(); err != nil {
			return 0, err
		}
	}
	v, err := c.bytes(z.out.b)
	z.out = growing{}
	return v, err
}

func (r *run) dropCompressor(id int32, z *compressor) {
	delete(r.web.compressors.byID, id)
	r.release(z.room)
}

// decompressor runs a decoder, which pulls its input, on a goroutine that is ever either waiting for input or handing
// over output: the two sides take turns. So a little input that becomes a lot never makes the host hold more than a piece.
type decompressor struct {
	feed   feed
	events chan event
	resume chan struct{}
	waits  bool // for input
	handed bool // a piece of output, and waits to go on
	ended  bool

	input []byte // what the guest has written and feed has not had yet
	last  bool   // it is the end
	begun bool
	room  int64 // charged, besides input
}

// event is what the decoder's side came to: a piece of output, hunger (both nil), or its end.
type event struct {
	piece []byte
	err   error
}

// feed is the decoder's input. It reads no further than the decoder asks, so what follows the end can be told.
type feed struct {
	ctx    context.Context
	chunk  []byte
	last   bool
	hungry func()
	more   chan struct{}
}

func (f *feed) wait() error {
	for len(f.chunk) == 0 {
		if f.last {
			return io.EOF
		}
		f.hungry()
		select {
		case <-f.more:
		case <-f.ctx.Done():
			return f.ctx.Err()
		}
	}
	return nil
}

func (f *feed) Read(p []byte) (int, error) {
	if err := f.wait(); err != nil {
		return 0, err
	}
	n := copy(p, f.chunk)
	f.chunk = f.chunk[n:]
	return n, nil
}

func (f *feed) ReadByte() (byte, error) {
	if err := f.wait(); err != nil {
		return 0, err
	}
	c := f.chunk[0]
	f.chunk = f.chunk[1:]
	return c, nil
}

// pieceSize is how much a decompressor gives out at a time.
const pieceSize = 64 << 10

func newDecompressor(ctx context.Context, open func(io.Reader) (io.Reader, error)) *decompressor {
	d := &decompressor{events: make(chan event), resume: make(chan struct{}), feed: feed{ctx: ctx, more: make(chan struct{})}}
	tell := func(e event) {
		select {
		case d.events <- e:
		case <-ctx.Done():
		}
	}
	d.feed.hungry = func() { tell(event{}) }
	go func() {
		decoder, err := open(&d.feed)
		buf := make([]byte, pieceSize)
		for err == nil {
			var n int
			if n, err = decoder.Read(buf); n == 0 {
				continue
			}
			tell(event{piece: buf[:n]})
			select {
			case <-d.resume:
			case <-ctx.Done():
				return
			}
		}
		tell(event{err: err})
	}()
	select { // every decoder starts by asking for input
	case <-d.events:
		d.waits = true
	case <-ctx.Done():
	}
	return d
}

// unzipOpen(format) gives a number.
func unzipOpen(c *call, a []quickjs.Value) (quickjs.Value, error) {
	if len(c.web.decompressors.byID) >= maxDecompressors {
		return 0, refused("QuotaExceededError", "more than %d decompression streams are open", maxDecompressors)
	}
	var open func(io.Reader) (io.Reader, error)
	format, _ := c.word(a[0], 16)
	switch format {
	case "gzip":
		open = func(r io.Reader) (io.Reader, error) {
			z, err := gzip.NewReader(r)
			if err == nil {
				z.Multistream(false)
			}
			return z, err
		}
	case "deflate":
		open = func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }
	case "deflate-raw":
		open = func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil }
	case "brotli":
		open = func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }
	default:
		return 0, errForged
	}
	if err := c.charge(inflateRoom); err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(c.opsCtx)
	d := newDecompressor(ctx, open)
	d.room = inflateRoom
	return quickjs.Int(c.web.decompressors.add(&openDecompressor{d, format == "brotli", stop})), nil
}

// openDecompressor is a decompressor and what ends its goroutine.
type openDecompressor struct {
	*decompressor
	brotli bool
	stop   context.CancelFunc
}

// drop forgets a decompressor.
func (r *run) dropDecompressor(id int32, d *openDecompressor) {
	delete(r.web.decompressors.byID, id)
	d.stop()
	r.release(d.room + int64(len(d.input)))
}

// brotliWindow returns the bytes that a decoder keeps, by the first byte of what it decodes (RFC 7932, section 9.1).
func brotliWindow(first byte) int64 {
	bits := 24
	switch high, low := first>>4&7, first>>1&7; {
	case first&1 == 0:
		bits = 16
	case low != 0:
		bits = 17 + int(low)
	case high == 0:
		bits = 17
	case high > 1:
		bits = 8 + int(high)
	}
	return unbrotliRoom + 1<<bits
}

// give adds what the guest has written.
func (c *call) give(d *openDecompressor, v quickjs.Value) error {
	data, err := c.view(v)
	if err != nil {
		return err
	}
	room := int64(0)
	if d.brotli && !d.begun && len(data) > 0 {
		d.begun, room = true, brotliWindow(data[0])
	}
	if err := c.charge(room + int64(len(data))); err != nil {
		return err
	}
	d.room += room
	d.input = append(d.input[:len(d.input):len(d.input)], data...)
	return nil
}

// unzipStep(number, bytes or null, last) goes on with more input, or with null after a piece of output. It gives the next
// piece, or null when it needs input or has come to its end.
func unzipStep(c *call, a []quickjs.Value) (quickjs.Value, error) {
	d, id, ok := c.web.decompressors.get(a[0])
	if !ok {
		return 0, errForged
	}
	last, _ := a[2].Int()
	if a[1] != quickjs.Null {
		if err := c.give(d, a[1]); err != nil {
			return 0, err
		}
		d.last = last != 0
	}
	if d.ended && len(d.input) > 0 {
		c.dropDecompressor(id, d)
		return 0, errAfterEnd
	}
	for {
		if err := c.work(decompressedWork * pieceSize); err != nil {
			return 0, err
		}
		if d.waits && len(d.input) > 0 {
			n := min(len(d.input), feedBytes)
			if err := c.work(compressedWork * n); err != nil {
				return 0, err
			}
			d.feed.chunk, d.input = d.input[:n:n], d.input[n:]
			c.release(int64(n))
		}
		d.feed.last = d.last && len(d.input) == 0
		e, err := d.next(c.opsCtx)
		switch {
		case err != nil:
			return 0, err
		case e.piece != nil:
			return c.bytes(e.piece)
		case e.err == nil && !d.ended && len(d.input) > 0:
			continue
		case e.err == nil && !d.ended:
			return quickjs.Null, nil
		case e.err == nil || errors.Is(e.err, io.EOF):
			extra := len(d.feed.chunk)+len(d.input) > 0
			if extra || last != 0 {
				c.dropDecompressor(id, d)
			}
			if extra {
				return 0, errAfterEnd
			}
			return quickjs.Null, nil
		}
		c.dropDecompressor(id, d)
		return 0, refused("TypeError", "the compressed data is not valid, or not complete")
	}
}

var errAfterEnd = refused("TypeError", "there is more after the end of the compressed data")

// next lets the decoder go on until it has something to tell.
func (d *decompressor) next(ctx context.Context) (event, error) {
	if d.ended {
		return event{}, nil
	}
	if d.waits {
		d.waits = false
		select {
		case d.feed.more <- struct{}{}:
		case <-ctx.Done():
			return event{}, ctx.Err()
		}
	} else if d.handed {
		select {
		case d.resume <- struct{}{}:
		case <-ctx.Done():
			return event{}, ctx.Err()
		}
	}
	d.handed = false
	select {
	case e := <-d.events:
		d.handed, d.waits, d.ended = e.piece != nil, e.piece == nil && e.err == nil, e.err != nil
		return e, nil
	case <-ctx.Done():
		return event{}, ctx.Err()
	}
}

// zipDrop(compresses, number) lets go of a stream that was given up.
func zipDrop(c *call, a []quickjs.Value) (quickjs.Value, error) {
	if compresses, _ := a[0].Int(); compresses != 0 {
		if z, id, ok := c.web.compressors.get(a[1]); ok {
			c.dropCompressor(id, z)
		}
		return quickjs.Undefined, nil
	}
	if d, id, ok := c.web.decompressors.get(a[1]); ok {
		c.dropDecompressor(id, d)
	}
	return quickjs.Undefined, nil
}
