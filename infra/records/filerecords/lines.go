package filerecords

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/airlock-run/airlock/policy/audit"
)

// A file reads a descriptor without moving its offset.
type file struct {
	fd   int
	name string
	size int64
}

// ReadAt implements io.ReaderAt up to size.
func (f file) ReadAt(b []byte, offset int64) (int, error) {
	n := min(int64(len(b)), f.size-offset)
	if n <= 0 {
		return 0, io.EOF
	}
	if err := readAt(f.fd, f.name, b[:n], offset); err != nil {
		return 0, err
	}
	if n < int64(len(b)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// eachLine calls fn with every whole line from offset on, including its \n, and the offset after it. It skips an
// unfinished last line. The bytes are valid until fn returns.
func eachLine(f file, offset int64, fn func(line []byte, next int64) error) error {
	if offset >= f.size {
		return nil
	}
	sc := bufio.NewScanner(io.NewSectionReader(f, offset, f.size-offset))
	sc.Buffer(make([]byte, 0, 64<<10), audit.MaxBytes+1)
	sc.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i+1], nil
		}
		if atEOF {
			return len(data), nil, nil
		}
		return 0, nil, nil
	})
	for sc.Scan() {
		offset += int64(len(sc.Bytes()))
		if err := fn(sc.Bytes(), offset); err != nil {
			return err
		}
	}
	return sc.Err()
}

// backward reads the whole lines of a file from its end to its beginning.
type backward struct {
	file
	buf []byte // bytes [start, start+len(buf)) of the file; what follows them has been given out
	off int64
}

// newBackward starts before end, at the last line that ended there or earlier.
func newBackward(f file, end int64) (*backward, error) {
	end, err := lastLineEnd(f.fd, f.name, min(end, f.size))
	return &backward{file: f, off: end}, err
}

// pos returns where the lines that were not returned yet end.
func (b *backward) pos() int64 { return b.off + int64(len(b.buf)) }

// next returns the previous line without its \n, and its offset; io.EOF at the beginning of the file. The bytes are
// valid until the next call.
func (b *backward) next() (line []byte, offset int64, err error) {
	for {
		if n := len(b.buf); n > 0 {
			if i := bytes.LastIndexByte(b.buf[:n-1], '\n'); i >= 0 || b.off == 0 {
				line = b.buf[i+1 : n-1]
				b.buf = b.buf[:i+1]
				return line, b.off + int64(i+1), nil
			}
		} else if b.off == 0 {
			return nil, 0, io.EOF
		}
		if len(b.buf) > audit.MaxBytes {
			return nil, 0, fmt.Errorf("read %s: a line has more than %d bytes", b.name, audit.MaxBytes)
		}
		n := min(b.off, max(64<<10, int64(len(b.buf))))
		grown := make([]byte, n+int64(len(b.buf)))
		if err := readAt(b.fd, b.name, grown[:n], b.off-n); err != nil {
			return nil, 0, err
		}
		copy(grown[n:], b.buf)
		b.buf, b.off = grown, b.off-n
	}
}
