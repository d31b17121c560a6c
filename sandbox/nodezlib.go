package sandbox

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"

	"github.com/andybalholm/brotli"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// maxInflated bounds what one call unpacks. The guest's memory and Node's maxOutputLength bound it further.
const maxInflated = 128 << 20

// zlibOp(format, level, most, data) gives bytes, or the code and the text of an error. Work is done in pieces, between
// which the clock is looked at; what a small input unpacks to is given up as soon as it is too much.
func zlibOp(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	format, _ := in.Str(a[0], 32)
	level, ok := a[1].Int()
	most, ok2 := a[2].Int()
	if !ok || !ok2 || level < -1 || level > 11 || most < 0 {
		return 0, errForged
	}
	data, err := buffer(in, a[3])
	if err != nil {
		return 0, err
	}
	room := min(int64(most), maxInflated, r.limits.MemoryBytes)
	var out []byte
	if w, packed, ok := packer(format, int(level)); ok {
		if err := r.feed(in, func(b []byte) error { _, err := w.Write(b); return err }, data); err != nil {
			return 0, err
		}
		if err := w.Close(); err != nil {
			return 0, err
		}
		out = packed.Bytes()
		if int64(len(out)) > int64(most) {
			err = errTooLarge
		}
	} else {
		out, err = r.unpack(in, format, data, room)
	}
	var limit *limitError
	switch {
	case err == nil:
		return in.Bytes(out)
	case errors.As(err, &limit), r.ctx.Err() != nil:
		return 0, err
	case errors.Is(err, errTooLarge):
		return answerJSON(in, [2]string{"ERR_BUFFER_TOO_LARGE", "too large"})
	case errors.Is(err, errForged):
		return 0, err
	}
	return answerJSON(in, zlibError(format, err))
}

func packer(format string, level int) (io.WriteCloser, *bytes.Buffer, bool) {
	var out bytes.Buffer
	if format == "brotli" {
		return brotli.NewWriterLevel(&out, max(level, 0)), &out, true
	}
	if level > 9 {
		level = 9
	}
	var w io.WriteCloser
	var err error
	switch format {
	case "gzip":
		w, err = gzip.NewWriterLevel(&out, level)
	case "deflate":
		w, err = zlib.NewWriterLevel(&out, level)
	case "deflate-raw":
		w, err = flate.NewWriter(&out, level)
	default:
		return nil, nil, false
	}
	return w, &out, err == nil
}

func (r *run) unpack(in *quickjs.Instance, format string, data []byte, room int64) ([]byte, error) {
	if format == "unzip" {
		format = "inflate"
		if len(data) > 1 && data[0] == 0x1f && data[1] == 0x8b {
			format = "gunzip"
		}
	}
	if !begins(format, data) {
		return nil, zlib.ErrHeader
	}
	from := bytes.NewReader(data)
	var src io.Reader
	var err error
	switch format {
	case "gunzip":
		src, err = gzip.NewReader(from)
	case "inflate":
		src, err = zlib.NewReader(from)
	case "inflate-raw":
		src = flate.NewReader(from)
	case "brotli-decompress":
		src = brotli.NewReader(from)
	default:
		return nil, errForged
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for {
		n, err := io.CopyN(&out, src, pieceBytes)
		if int64(out.Len()) > room {
			return nil, errTooLarge
		}
		if errors.Is(err, io.EOF) && n < pieceBytes {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		if err := r.Poll(in); err != nil {
			return nil, err
		}
	}
}

// begins tells whether data may be the start of what a format's header says, however short it is.
func begins(format string, data []byte) bool {
	switch {
	case format == "gunzip" && len(data) > 1:
		return data[0] == 0x1f && data[1] == 0x8b
	case format == "inflate" && len(data) > 1:
		return data[0]&15 == 8 && (int(data[0])<<8|int(data[1]))%31 == 0
	}
	return true
}

// zlibError gives code and text as zlib words them.
func zlibError(format string, err error) [2]string {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return [2]string{"Z_BUF_ERROR", "unexpected end of file"}
	case format == "brotli-decompress":
		return [2]string{"ERR__ERROR_FORMAT_PADDING_1", "Decompression failed"}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zlib.ErrHeader):
		return [2]string{"Z_DATA_ERROR", "incorrect header check"}
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum):
		return [2]string{"Z_DATA_ERROR", "incorrect data check"}
	}
	return [2]string{"Z_DATA_ERROR", "invalid stored block lengths"}
}
