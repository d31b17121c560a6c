package compress

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"

	"github.com/andybalholm/brotli"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// maxInflated bounds what one call unpacks. The guest's memory and Node's maxOutputLength bound it further.
const maxInflated = 128 << 20

// zlibOp answers zlib(format, level, most, data, partial, dictionary or nothing): it returns bytes, or the code and the
// text of an error. If partial is odd, compressed data that ends too early is no error; half of it is zlib's strategy.
// It stops as soon as the output is more than was asked for, or than there is memory for.
func zlibOp(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	format, _ := c.Word(a[0], 32)
	level, ok := a[1].Int()
	most, ok2 := a[2].Int()
	if !ok || !ok2 || level < -1 || level > 11 || most < 0 {
		return 0, hostops.ErrForged
	}
	data, err := c.View(a[3])
	if err != nil {
		return 0, err
	}
	dictionary, err := dictionaryOf(c, a[5])
	if err != nil {
		return 0, err
	}
	var out []byte
	partial, _ := a[4].Int()
	if p, ok := packingOf(format, int(level), dictionary, partial>>1); ok {
		if out, err = pack(c, p, data); err != nil {
			return 0, err
		}
		if int64(len(out)) > int64(most) {
			err = errTooLarge
		}
	} else {
		metered := &meteredReader{c: c, b: data}
		out, err = unpack(c, metered, format, dictionary, min(int(most), maxInflated))
		if partial&1 != 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		if metered.err != nil {
			return 0, metered.err
		}
	}
	switch {
	case err == nil:
		return c.NewBytes(out)
	case hostops.AsLimit(err) != nil, c.Context().Err() != nil:
		return 0, err
	case errors.Is(err, errTooLarge):
		return c.NewJSON([2]string{"ERR_BUFFER_TOO_LARGE", "too large"})
	case errors.Is(err, hostops.ErrForged):
		return 0, err
	}
	return c.NewJSON(zlibError(format, dictionary, err))
}

const (
	// summedBytes is how many bytes of a dictionary the checksum reads in a unit of work. It cannot be divided.
	summedBytes = 4
	// maxDictionary bounds a dictionary, of which only the last 32 KiB are referred to.
	maxDictionary = hostops.MaxPiece / 2 * summedBytes
)

// dictionaryOf returns the bytes of a dictionary that is given, and announces the work of its checksum.
func dictionaryOf(c *hostops.Call, v quickjs.Value) ([]byte, error) {
	if v == quickjs.Undefined {
		return nil, nil
	}
	dictionary, err := c.View(v)
	if err != nil {
		return nil, err
	}
	if len(dictionary) > maxDictionary {
		return nil, hostops.Throwf("QuotaExceededError", "the dictionary has more than %d bytes", maxDictionary)
	}
	return dictionary, c.Work(len(dictionary)/summedBytes + 32<<10)
}

// errTooLarge reports that an output is longer than it may be.
var errTooLarge = errors.New("the output is too large")

func pack(c *hostops.Call, p packing, data []byte) ([]byte, error) {
	if err := c.Hold(int(p.room)); err != nil {
		return nil, err
	}
	out := hostops.Buffer{C: c}
	w := p.open(&out)
	if err := p.write(c, w, data); err != nil {
		return nil, err
	}
	return out.B, w.Close()
}

// meteredReader is the input of a decoder. It announces work by what goes in, however little comes out.
type meteredReader struct {
	c    *hostops.Call
	b    []byte
	paid int // bytes
	err  error
}

func (m *meteredReader) pay() error {
	if len(m.b) == 0 {
		return io.EOF
	}
	if m.paid == 0 && m.err == nil {
		m.paid = min(len(m.b), feedBytes)
		m.err = m.c.Work(compressedWork * m.paid)
	}
	return m.err
}

func (m *meteredReader) Read(p []byte) (int, error) {
	if err := m.pay(); err != nil {
		return 0, err
	}
	n := copy(p, m.b[:m.paid])
	m.b, m.paid = m.b[n:], m.paid-n
	return n, nil
}

func (m *meteredReader) ReadByte() (byte, error) {
	if m.paid == 0 {
		if err := m.pay(); err != nil {
			return 0, err
		}
	}
	b := m.b[0]
	m.b, m.paid = m.b[1:], m.paid-1
	return b, nil
}

func unpack(c *hostops.Call, from *meteredReader, format string, dictionary []byte, most int) ([]byte, error) {
	data := from.b
	if format == "unzip" {
		format = "inflate"
		if len(data) > 1 && data[0] == 0x1f && data[1] == 0x8b {
			format = "gunzip"
		}
	}
	if !begins(format, data) {
		return nil, zlib.ErrHeader
	}
	room := inflateRoom
	if format == "brotli-decompress" && len(data) > 0 {
		room = int(brotliWindow(data[0]))
	}
	if err := c.Hold(room); err != nil {
		return nil, err
	}
	var src io.Reader
	var err error
	var members *gzip.Reader
	switch format {
	case "gunzip":
		if members, err = gzip.NewReader(from); err == nil {
			members.Multistream(false)
		}
		src = members
	case "inflate":
		src, err = zlib.NewReaderDict(from, dictionary)
	case "inflate-raw":
		src = flate.NewReaderDict(from, dictionary)
	case "brotli-decompress":
		src = brotli.NewReader(from)
	default:
		return nil, hostops.ErrForged
	}
	if err != nil {
		return nil, err
	}
	out := hostops.Buffer{C: c}
	for {
		if err := c.Work(decompressedWork * pieceSize); err != nil {
			return nil, err
		}
		if len(out.B) == cap(out.B) {
			if out.Room(min(pieceSize, max(4*len(data), 1<<10))) != nil {
				return nil, errTooLarge // for the guest's memory, as for the most that it asked for
			}
		}
		n, err := src.Read(out.B[len(out.B):min(cap(out.B), len(out.B)+pieceSize)])
		out.B = out.B[:len(out.B)+n]
		switch {
		case len(out.B) > most:
			return nil, errTooLarge
		case errors.Is(err, io.EOF) && members != nil && len(from.b) > 0 && from.b[0] != 0:
			// Another member follows. Zeros are padding, as that of archives, and end the data.
			if !begins(format, from.b) {
				return out.B, zlib.ErrHeader
			}
			if err := members.Reset(from); err != nil {
				return out.B, err
			}
			members.Multistream(false)
		case errors.Is(err, io.EOF):
			return out.B, nil
		case err != nil:
			return out.B, err
		}
	}
}

// begins reports whether data can be the start of the header of a format, however short data is.
func begins(format string, data []byte) bool {
	switch {
	case format == "gunzip" && len(data) > 1:
		return data[0] == 0x1f && data[1] == 0x8b
	case format == "inflate" && len(data) > 1:
		return data[0]&15 == 8 && (int(data[0])<<8|int(data[1]))%31 == 0
	}
	return true
}

// zlibError returns code and text of an error in zlib's wording.
func zlibError(format string, dictionary []byte, err error) [2]string {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return [2]string{"Z_BUF_ERROR", "unexpected end of file"}
	case format == "brotli-decompress":
		return [2]string{"ERR__ERROR_FORMAT_PADDING_1", "Decompression failed"}
	case errors.Is(err, zlib.ErrDictionary) && len(dictionary) == 0:
		return [2]string{"Z_NEED_DICT", "Missing dictionary"}
	case errors.Is(err, zlib.ErrDictionary):
		return [2]string{"Z_NEED_DICT", "Bad dictionary"}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zlib.ErrHeader):
		return [2]string{"Z_DATA_ERROR", "incorrect header check"}
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum):
		return [2]string{"Z_DATA_ERROR", "incorrect data check"}
	}
	return [2]string{"Z_DATA_ERROR", "invalid stored block lengths"}
}
