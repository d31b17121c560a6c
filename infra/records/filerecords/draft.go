package filerecords

import (
	"errors"

	"golang.org/x/sys/unix"
)

// A draft is a file that does not have its record's name yet. A store has at most one, always under the same name, so
// that recovery knows what to remove.
type draft struct {
	day string
	fd  int
	err error
}

// draftName returns the name of a writer's draft.
func draftName(writer string) string { return "." + writer }

// prepare creates the next draft while nobody waits: on some file systems, creating a file is by far the slowest part
// of an Append.
func (s *Store) prepare(day string) {
	next := make(chan draft, 1)
	s.next = next
	go func() { next <- s.newDraft(day) }()
}

func (s *Store) newDraft(day string) draft {
	fd, err := s.disk.create(s.objs, dayPrefix+day+"/"+draftName(s.writer), unix.O_WRONLY|unix.O_TRUNC)
	return draft{day: day, fd: fd, err: err}
}

// takeDraft returns an empty draft in a day's folder: the prepared one if it fits.
func (s *Store) takeDraft(day string) (draft, error) {
	if s.next != nil {
		d := <-s.next
		s.next = nil
		if d.err == nil && d.day == day {
			return d, nil
		}
		if err := s.discard(d); err != nil {
			return draft{}, err
		}
	}
	d := s.newDraft(day)
	return d, d.err
}

// dropDraft removes a prepared draft.
func (s *Store) dropDraft() error {
	if s.next == nil {
		return nil
	}
	d := <-s.next
	s.next = nil
	return s.discard(d)
}

func (s *Store) discard(d draft) error {
	if d.err != nil {
		return nil
	}
	shut(d.fd)
	err := s.disk.unlink(s.objs, dayPrefix+d.day+"/"+draftName(s.writer))
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}
