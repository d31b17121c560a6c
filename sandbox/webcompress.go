package sandbox

import (
	"bytes"
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

// A compressor holds about a megabyte of the host's memory, a decompressor some 100 KiB.
const (
	maxCompressors   = 16
	maxDecompressors = 64
)

// compressor gathers what a writer has written since it was last asked.
type compressor struct {
	io.WriteCloser
	out bytes.Buffer
}

// zipOpen(format) gives a number.
func zipOpen(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	if len(r.web.compressors.byID) >= maxCompressors {
		return 0, refused("QuotaExceededError", "more than %d compression streams are open", maxCompressors)
	}
	c := &compressor{}
	switch format, _ := in.Str(a[0], 16); format {
	case "gzip":
		c.WriteCloser = gzip.NewWriter(&c.out)
	case "deflate":
		c.WriteCloser = zlib.NewWriter(&c.out)
	case "brotli":
		c.WriteCloser = brotli.NewWriter(&c.out)
	case "deflate-raw":
		w, err := flate.NewWriter(&c.out, flate.DefaultCompression)
		if err != nil {
			return 0, err
		}
		c.WriteCloser = w
	default:
		return 0, errForged
	}
	return quickjs.Int(r.web.compressors.add(c)), nil
}

// zipWrite(number, bytes, last) gives what has been compressed by then.
func zipWrite(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	c, id, ok := r.web.compressors.get(a[0])
	if !ok {
		return 0, errForged
	}
	data, err := buffer(in, a[1])
	if err != nil {
		return 0, err
	}
	for len(data) > 0 {
		n := min(len(data), slice)
		if _, err := c.Write(data[:n]); err != nil {
			return 0, err // it writes to memory
		}
		data = data[n:]
		if err := r.Poll(in); err != nil {
			return 0, err
		}
	}
	if last, _ := a[2].Int(); last != 0 {
		delete(r.web.compressors.byID, id)
		if err := c.Close(); err != nil {
			return 0, err
		}
	}
	v, err := in.Bytes(c.out.Bytes())
	c.out.Reset()
	return v, err
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
func unzipOpen(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	if len(r.web.decompressors.byID) >= maxDecompressors {
		return 0, refused("QuotaExceededError", "more than %d decompression streams are open", maxDecompressors)
	}
	var open func(io.Reader) (io.Reader, error)
	switch format, _ := in.Str(a[0], 16); format {
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
	ctx, stop := context.WithCancel(r.opsCtx)
	d := newDecompressor(ctx, open)
	return quickjs.Int(r.web.decompressors.add(&openDecompressor{d, stop})), nil
}

// openDecompressor is a decompressor and what ends its goroutine.
type openDecompressor struct {
	*decompressor
	stop context.CancelFunc
}

// unzipStep(number, bytes or null, last) goes on with more input, or with null after a piece of output. It gives the next
// piece, or null when it needs input or has come to its end.
func unzipStep(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	d, id, ok := r.web.decompressors.get(a[0])
	if !ok {
		return 0, errForged
	}
	drop := func() {
		delete(r.web.decompressors.byID, id)
		d.stop()
	}
	if err := r.Poll(in); err != nil {
		return 0, err
	}
	last, _ := a[2].Int()
	if a[1] != quickjs.Null {
		data, err := buffer(in, a[1])
		if err != nil {
			return 0, err
		}
		if d.ended && len(data) > 0 {
			drop()
			return 0, refused("TypeError", "there is more after the end of the compressed data")
		}
		d.feed.chunk, d.feed.last = data, last != 0
	}
	e, err := d.next(r.opsCtx)
	if err != nil {
		return 0, err
	}
	switch {
	case e.piece != nil:
		return in.Bytes(e.piece)
	case e.err == nil && !d.ended:
		return quickjs.Null, nil
	case e.err == nil || errors.Is(e.err, io.EOF):
		extra := len(d.feed.chunk) > 0
		if extra || last != 0 {
			drop()
		}
		if extra {
			return 0, refused("TypeError", "there is more after the end of the compressed data")
		}
		return quickjs.Null, nil
	default:
		drop()
		return 0, refused("TypeError", "the compressed data is not valid, or not complete")
	}
}

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
func zipDrop(r *run, _ *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	if compresses, _ := a[0].Int(); compresses != 0 {
		if _, id, ok := r.web.compressors.get(a[1]); ok {
			delete(r.web.compressors.byID, id)
		}
		return quickjs.Undefined, nil
	}
	if d, id, ok := r.web.decompressors.get(a[1]); ok {
		delete(r.web.decompressors.byID, id)
		d.stop()
	}
	return quickjs.Undefined, nil
}
