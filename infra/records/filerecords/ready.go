package filerecords

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// readyFor is how long Ready caches its result, so that frequent probes do not keep the disk busy.
const readyFor = time.Second

// Ready returns an error if a record cannot be stored now. It writes as much as a small record takes, reads it back,
// and removes it. Its result may be a second old.
func (s *Store) Ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.reader:
		return errReader
	}
	now := s.cfg.Now()
	if age := now.Sub(s.ready); !s.ready.IsZero() && age >= 0 && age < readyFor {
		return nil
	}
	err := s.probe()
	if err == nil {
		s.ready = now
	}
	return err
}

// readBack returns an error unless a file holds what was written to it.
func readBack(fd int, text []byte) error {
	back := make([]byte, len(text))
	for read := 0; read < len(back); {
		n, err := unix.Pread(fd, back[read:], int64(read))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return errors.Join(errors.New("what was written cannot be read back"), err)
		}
		read += n
	}
	if !bytes.Equal(back, text) {
		return errors.New("what was read back differs from what was written")
	}
	return nil
}

// probe writes a file and removes it. Another opening would remove what a kill leaves.
func (s *Store) probe() error {
	name := s.writer + freshSuffix
	fd, err := s.disk.create(s.wrs, name, unix.O_RDWR|unix.O_TRUNC)
	if err == nil {
		text := bytes.Repeat([]byte("ready\n"), 4*headBytes/6)
		if err = s.disk.write(fd, name, text, -1); err == nil {
			err = readBack(fd, text)
		}
		shut(fd)
		if gone := s.disk.unlink(s.wrs, name); !errors.Is(gone, unix.ENOENT) {
			err = errors.Join(err, gone)
		}
	}
	if err != nil {
		return fmt.Errorf("record store: folder %q cannot store records: %w", s.dir, err)
	}
	return nil
}
