package filerecords

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// recover finishes the work of dead writers. A writer that cannot be finished now is left for the next opening or for
// Verify, and blocks nothing.
func (s *Store) recover() error {
	names, err := list(s.wrs, ".")
	if err != nil {
		return err
	}
	for _, name := range names {
		var err error
		if strings.HasSuffix(name, freshSuffix) {
			err = s.bury(name, func(int) error { return s.disk.unlink(s.wrs, name) })
		} else if writer, ok := strings.CutSuffix(name, headSuffix); ok && writer != s.writer {
			err = s.bury(name, func(fd int) error { return s.finish(writer, fd) })
		}
		if err != nil {
			s.cfg.Log.Warn("cannot finish a killed writer", "file", name, "error", err)
		}
	}
	return nil
}

// bury calls fn with a writer's file if nobody holds its lock, so that its process is dead.
func (t *tree) bury(name string, fn func(fd int) error) error {
	fd, err := open(t.wrs, name, unix.O_RDWR|unix.O_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer shut(fd)
	if err := t.disk.lock(fd, name, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil
		}
		return err
	}
	st, err := stat(fd, name)
	if err != nil || st.Nlink == 0 {
		return err
	}
	return fn(fd)
}

// finish completes the announced record of a dead writer and ends the writer.
func (s *Store) finish(writer string, fd int) error {
	slots := make([]byte, headBytes)
	if err := readAt(fd, writer+headSuffix, slots, 0); err != nil {
		return err
	}
	h, err := readHead(slots, s.cfg.Key)
	if err != nil {
		return err
	}
	if h.Writer != writer {
		return fmt.Errorf("its head belongs to %.40q", h.Writer)
	}
	if h.Seq > 0 && (!isDay(h.Day) || !audit.ValidID(h.ID)) {
		return fmt.Errorf("its head names day %.20q and id %.40q", h.Day, h.ID)
	}
	if err := s.clearDraft(writer); err != nil {
		return err
	}
	last, id := h.certain()
	if !h.Done {
		whole, err := s.complete(h)
		if err != nil {
			return err
		}
		if whole {
			last, id = audit.Head{Writer: writer, Seq: h.Seq, Hash: h.Hash}, h.ID
		}
	}
	return s.endWriter(writer, last, id)
}

// complete reports whether the announced record exists, that is, whether its object has its name, and then writes its
// line if it is missing.
func (s *Store) complete(h head) (bool, error) {
	object, err := readFile(s.objs, dayPrefix+h.Day+"/"+objectName(h.ID))
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r, err := audit.Unseal(object, s.cfg.Key)
	if r.Chain.Writer != h.Writer || r.Chain.Hash != h.Hash {
		return false, nil // the ID was taken: this is the record of another writer
	}
	if err != nil {
		return false, fmt.Errorf("object %s: %w", h.ID, err)
	}
	d, err := s.day(h.Day)
	if err != nil {
		return false, err
	}
	if err := s.disk.lock(d.log.fd, d.log.name, unix.LOCK_EX); err != nil {
		return false, err
	}
	defer unlock(d.log.fd)
	st, err := stat(d.log.fd, d.log.name)
	if err != nil {
		return false, err
	}
	found := false
	err = eachLine(file{d.log.fd, d.log.name, st.Size}, h.At, func(line []byte, _ int64) error {
		found = found || bytes.Equal(line, object)
		return nil
	})
	if err != nil || found {
		return found, err
	}
	if _, err := s.appendLocked(&d.log, object); err != nil {
		return false, err
	}
	s.cfg.Log.Info("completed the line of a killed writer", "record", h.ID, "writer", h.Writer)
	return true, s.flush(d.log.fd, d.log.name)
}
