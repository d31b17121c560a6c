package filerecords

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// readyFor is how long Ready believes that nothing has changed: whoever asks often does not keep the disk busy.
const readyFor = time.Second

// Ready reports whether a record could be stored now: it writes as much to the folder as a small record takes, and removes
// it. That it could may be a second ago.
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

// probe leaves nothing behind that another opening would not remove.
func (s *Store) probe() error {
	name := s.writer + freshSuffix
	fd, err := s.disk.create(s.wrs, name, unix.O_WRONLY|unix.O_TRUNC)
	if err == nil {
		err = s.disk.write(fd, name, make([]byte, 4*headBytes), -1)
		shut(fd)
		if gone := s.disk.unlink(s.wrs, name); !errors.Is(gone, unix.ENOENT) {
			err = errors.Join(err, gone)
		}
	}
	if err != nil {
		return fmt.Errorf("record store: folder %q takes no records: %w", s.dir, err)
	}
	return nil
}
