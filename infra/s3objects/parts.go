package s3objects

import (
	"errors"
	"io"
)

// parts reads byte slices that follow one another. It has no WriteTo: a hash over 16 MiB in one call cannot be
// interrupted, and the garbage collector spends a processor on waiting for it.
type parts struct {
	all  [][]byte
	size int64
	part int // the part that is read, and where in it
	at   int
}

func newParts(all [][]byte) *parts {
	p := &parts{all: all}
	for _, part := range all {
		p.size += int64(len(part))
	}
	return p
}

// Read implements io.Reader.
func (p *parts) Read(b []byte) (n int, err error) {
	for p.part < len(p.all) && n < len(b) {
		copied := copy(b[n:], p.all[p.part][p.at:])
		n, p.at = n+copied, p.at+copied
		if p.at == len(p.all[p.part]) {
			p.part, p.at = p.part+1, 0
		}
	}
	if n == 0 && len(b) > 0 {
		err = io.EOF
	}
	return n, err
}

// Seek implements io.Seeker.
func (p *parts) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		for _, part := range p.all[:p.part] {
			offset += int64(len(part))
		}
		offset += int64(p.at)
	case io.SeekEnd:
		offset += p.size
	}
	if offset < 0 {
		return 0, errors.New("an object has no bytes before its first")
	}
	rest := min(offset, p.size)
	for p.part = 0; p.part < len(p.all) && rest >= int64(len(p.all[p.part])); p.part++ {
		rest -= int64(len(p.all[p.part]))
	}
	p.at = int(rest)
	return offset, nil
}
