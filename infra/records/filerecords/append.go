package filerecords

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// Append stores a record. Nil means that it is in both layouts and part of this writer's chain; audit.ErrExists means
// that its ID is taken; any other error means that it is not stored. ctx counts only before the work begins.
func (s *Store) Append(ctx context.Context, r audit.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.append(r)
	if err != nil && !errors.Is(err, audit.ErrExists) {
		return fmt.Errorf("store record %.40s: %w", r.ID, err)
	}
	return err
}

func (s *Store) append(r audit.Record) error {
	switch {
	case s.closed:
		return ErrClosed
	case s.reader:
		return errReader
	case s.broken != nil:
		return s.broken
	case s.undo != nil:
		if err := s.undo(); err != nil {
			return fmt.Errorf("remove a failed record: %w", err)
		}
		s.undo = nil
	}
	sealed, err := audit.Seal(r, s.last, s.cfg.Key)
	if err != nil {
		return err
	}
	err = s.place(sealed)
	if errors.Is(err, errGone) || errors.Is(err, unix.ENOENT) {
		s.forget(sealed.Day) // retention removed this day while this store had it open
		err = s.place(sealed)
	}
	return err
}

// place writes a sealed record to both layouts, or to none.
func (s *Store) place(r audit.Sealed) error {
	name := r.Day
	d, err := s.day(name)
	if err != nil {
		return err
	}
	draft, err := s.takeDraft()
	if err != nil {
		return err
	}
	h := head{
		Writer: s.writer, Seq: r.Chain.Seq, Hash: r.Chain.Hash, Prev: r.Chain.Prev,
		ID: r.ID, Day: name, At: d.log.end,
	}
	if err := errors.Join(s.writeHead(h), s.flush(s.headFD, s.writer+headSuffix)); err != nil {
		return errors.Join(err, s.discard(draft, s.writer))
	}
	if err := s.publish(d, draft, r); err != nil {
		return err
	}
	if _, err := s.appendLine(&d.log, r.Line); err != nil {
		return errors.Join(err, s.withdraw(d, r.ID))
	}
	if err := errors.Join(s.flush(d.objs, dayPrefix+name), s.flush(d.log.fd, d.log.name)); err != nil {
		return err
	}
	s.last, s.lastID = r.Head(), r.ID
	s.prepare()
	h.Done = true
	if err := s.writeHead(h); err != nil {
		// The record is complete and announced, so a head without confirmation is enough.
		s.cfg.Log.Warn("head file not confirmed", "writer", s.writer, "error", err)
	}
	return nil
}

// publish writes the draft and renames it to the record's name.
func (s *Store) publish(d *day, draft draft, r audit.Sealed) error {
	from := draftName(s.writer)
	err := s.disk.write(draft.fd, from, r.Line, -1)
	if err == nil {
		err = s.flush(draft.fd, from)
	}
	if err == nil {
		err = s.disk.renameNew(s.wrs, from, d.objs, objectName(r.ID))
	}
	if err != nil {
		if errors.Is(err, unix.EEXIST) {
			err = audit.ErrExists
		}
		if stays := s.discard(draft, s.writer); stays != nil {
			s.cfg.Log.Warn("draft left behind", "file", from, "error", stays)
		}
		return err
	}
	shut(draft.fd)
	return nil
}

// withdraw removes an object whose line could not be written. Until it succeeds, the store accepts no other record.
func (s *Store) withdraw(d *day, id string) error {
	day, name := d.name, objectName(id)
	undo := func() error {
		err := s.disk.unlink(s.objs, dayPrefix+day+"/"+name)
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		return err
	}
	if err := undo(); err != nil {
		s.undo = undo
		return err
	}
	return nil
}

// writeHead writes the slot that does not hold the newest state.
func (s *Store) writeHead(h head) error {
	s.rev++
	h.Rev = s.rev
	s.slots = appendSlot(s.slots[:0], h, s.cfg.Key)
	return s.disk.write(s.headFD, s.writer+headSuffix, s.slots, (s.rev%2)*slotBytes)
}

// flush flushes a file to disk if Config.Sync is set. A disk that fails at it may have lost data: from then on the
// store refuses, and the next opening checks what is there.
func (s *Store) flush(fd int, name string) error {
	if !s.cfg.Sync {
		return nil
	}
	if err := s.disk.sync(fd, name); err != nil {
		s.broken = fmt.Errorf("the disk failed earlier, open the store again: %w", err)
		return err
	}
	return nil
}
