package filerecords

import (
	"errors"

	"golang.org/x/sys/unix"
)

// A draft is a file that does not have its record's name yet. A store has at most one, always under the same name, so
// that recovery knows what to remove. Each writer's draft has a folder of its own: see [spread].
type draft struct {
	fd  int
	err error
}

// draftName returns the name of a writer's draft in the folder of writers.
func draftName(writer string) string { return writer + "/draft" }

// prepare creates the next draft while nobody waits: on some file systems, creating a file is by far the slowest part
// of an Append.
func (s *Store) prepare() {
	next := make(chan draft, 1)
	s.next = next
	go func() { next <- s.newDraft() }()
}

func (s *Store) newDraft() draft {
	name := draftName(s.writer)
	fd, err := s.disk.create(s.wrs, name, unix.O_WRONLY|unix.O_TRUNC)
	if errors.Is(err, unix.ENOENT) {
		if err = s.disk.mkdir(s.wrs, s.writer); err == nil {
			fd, err = s.disk.create(s.wrs, name, unix.O_WRONLY|unix.O_TRUNC)
		}
	}
	return draft{fd: fd, err: err}
}

// takeDraft returns an empty draft: the prepared one if there is one.
func (s *Store) takeDraft() (draft, error) {
	d := draft{err: unix.ENOENT}
	if s.next != nil {
		d = <-s.next
		s.next = nil
	}
	if d.err != nil {
		d = s.newDraft()
	}
	return d, d.err
}

// discard removes a draft whose record was not stored.
func (t *tree) discard(d draft, writer string) error {
	shut(d.fd)
	err := t.disk.unlink(t.wrs, draftName(writer))
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// dropDraft closes the prepared draft, if any, and removes it and its folder.
func (s *Store) dropDraft() error {
	s.shutDraft()
	return s.clearDraft(s.writer)
}

func (s *Store) shutDraft() {
	if s.next == nil {
		return
	}
	if d := <-s.next; d.err == nil {
		shut(d.fd)
	}
	s.next = nil
}

// clearDraft removes the draft of a writer that has ended, and its folder.
func (t *tree) clearDraft(writer string) error {
	for _, err := range []error{t.disk.unlink(t.wrs, draftName(writer)), t.disk.rmdir(t.wrs, writer)} {
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}
