package compress

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"

	"github.com/andybalholm/brotli"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// decompressor runs a decoder, which pulls its input, on a goroutine of its own. The goroutine always either waits
// for input or hands over output: the two sides take turns. So a little input that becomes a lot never makes the host
// hold more than a piece.
type decompressor struct {
	feed   feed
	events chan event
	resume chan struct{}
	waits  bool // for input
	handed bool // a piece of output, and waits to continue
	ended  bool

	input []byte // what the guest has written and feed has not received yet
	last  bool   // it is the end
	begun bool
	room  int64 // charged, besides input
}

// event is what the decoder's goroutine reports: a piece of output, the need for input (both fields are nil), or its
// end.
type event struct {
	piece []byte
	err   error
}

// feed is the input of a decoder. It reads no further than the decoder asks, so that data after the end is noticed.
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

// pieceSize is the most output that a decompressor hands over at a time.
const pieceSize = 64 << 10

func newDecompressor(ctx context.Context, open func(io.Reader) (io.Reader, error)) *decompressor {
	d := &decompressor{events: make(chan event), resume: make(chan struct{}),
		feed: feed{ctx: ctx, more: make(chan struct{})}}
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

// unzipOpen answers unzip.open(format): it opens a decompression stream and returns its number.
func unzipOpen(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	if len(streamsOf(c).decompressors.byID) >= maxDecompressors {
		return 0, hostops.Throwf("QuotaExceededError", "more than %d decompression streams are open", maxDecompressors)
	}
	var open func(io.Reader) (io.Reader, error)
	format, _ := c.Word(a[0], 16)
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
		return 0, hostops.ErrForged
	}
	if err := c.Charge(inflateRoom); err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(c.Context())
	d := newDecompressor(ctx, open)
	d.room = inflateRoom
	return quickjs.Int(streamsOf(c).decompressors.add(&openDecompressor{d, format == "brotli", stop})), nil
}

// openDecompressor is a decompressor and what ends its goroutine.
type openDecompressor struct {
	*decompressor
	brotli bool
	stop   context.CancelFunc
}

func dropDecompressor(c *hostops.Call, id int32, d *openDecompressor) {
	delete(streamsOf(c).decompressors.byID, id)
	d.stop()
	c.Release(d.room + int64(len(d.input)))
}

// brotliWindow returns the bytes that a decoder keeps, by the first byte of its input (RFC 7932, section 9.1).
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

// give adds input that the guest has written.
func give(c *hostops.Call, d *openDecompressor, v quickjs.Value) error {
	data, err := c.View(v)
	if err != nil {
		return err
	}
	room := int64(0)
	if d.brotli && !d.begun && len(data) > 0 {
		d.begun, room = true, brotliWindow(data[0])
	}
	if err := c.Charge(room + int64(len(data))); err != nil {
		return err
	}
	d.room += room
	d.input = append(d.input[:len(d.input):len(d.input)], data...)
	return nil
}

// unzipStep answers unzip.step(number, bytes or null, last): it continues with more input, or with null after a piece
// of output. It returns the next piece, or null if it needs input or has come to the end.
func unzipStep(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	d, id, ok := streamsOf(c).decompressors.get(a[0])
	if !ok {
		return 0, errLost(c)
	}
	last, _ := a[2].Int()
	if a[1] != quickjs.Null {
		if err := give(c, d, a[1]); err != nil {
			return 0, err
		}
		d.last = last != 0
	}
	if d.ended && len(d.input) > 0 {
		dropDecompressor(c, id, d)
		return 0, errAfterEnd
	}
	for {
		if err := c.Work(decompressedWork * pieceSize); err != nil {
			return 0, err
		}
		if d.waits && len(d.input) > 0 {
			n := min(len(d.input), feedBytes)
			if err := c.Work(compressedWork * n); err != nil {
				return 0, err
			}
			d.feed.chunk, d.input = d.input[:n:n], d.input[n:]
			c.Release(int64(n))
		}
		d.feed.last = d.last && len(d.input) == 0
		e, err := d.next(c.Context())
		switch {
		case err != nil:
			return 0, err
		case e.piece != nil:
			return c.NewBytes(e.piece)
		case e.err == nil && !d.ended && len(d.input) > 0:
			continue
		case e.err == nil && !d.ended:
			return quickjs.Null, nil
		case e.err == nil || errors.Is(e.err, io.EOF):
			extra := len(d.feed.chunk)+len(d.input) > 0
			if extra || last != 0 {
				dropDecompressor(c, id, d)
			}
			if extra {
				return 0, errAfterEnd
			}
			return quickjs.Null, nil
		}
		dropDecompressor(c, id, d)
		return 0, hostops.Throwf("TypeError", "the compressed data is not valid, or not complete")
	}
}

var errAfterEnd = hostops.Throwf("TypeError", "there is more after the end of the compressed data")

// next lets the decoder continue until it reports something.
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
