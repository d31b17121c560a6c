package filerecords

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// The kinds of ledger lines.
const (
	kindEnd    = "end"    // a writer stopped at Seq with Hash
	kindPruned = "pruned" // retention took a writer's records From to Seq, the last of them with Hash
	kindMoved  = "moved"  // record Seq was filed under Day, and was moved to its own day; verification does not need it
)

// An entry is one line of the ledger. Its Prev is the sum of the line before it.
type entry struct {
	Kind   string    `json:"kind"`
	Writer string    `json:"writer"`
	From   int64     `json:"from,omitempty"`
	Seq    int64     `json:"seq"`
	Hash   string    `json:"hash"`
	ID     string    `json:"id,omitempty"` // of record Seq, where it is known
	Day    string    `json:"day,omitempty"`
	At     time.Time `json:"at"`
	Prev   string    `json:"prev"`
	Sum    string    `json:"sum,omitempty"` // set by reading
}

// endWriter records where a writer stopped and removes its head file. Repeating it is harmless.
func (s *Store) endWriter(writer string, last audit.Head, id string) error {
	if last.Seq > 0 {
		if err := s.enter(entry{Kind: kindEnd, Writer: writer, Seq: last.Seq, Hash: last.Hash, ID: id}); err != nil {
			return err
		}
	}
	err := s.disk.unlink(s.wrs, writer+headSuffix)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// enter appends lines to the ledger, each chained to the one before.
func (s *Store) enter(entries ...entry) error {
	ledger, err := s.openAppend(s.wrs, ledgerName)
	if err != nil {
		return err
	}
	defer ledger.shut()
	if err := s.disk.lock(ledger.fd, ledgerName, unix.LOCK_EX); err != nil {
		return err
	}
	defer unlock(ledger.fd)
	st, err := stat(ledger.fd, ledgerName)
	if err != nil {
		return err
	}
	tail, err := newBackward(file{ledger.fd, ledgerName, st.Size}, st.Size)
	if err != nil {
		return err
	}
	prev := ""
	if line, _, err := tail.next(); err == nil {
		prev = sumIn(line)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	var lines []byte
	for _, e := range entries {
		e.At, e.Prev = s.cfg.Now().UTC(), prev
		doc, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode ledger line: %w", err)
		}
		start := len(lines)
		lines = audit.AppendSum(append(lines, doc[:len(doc)-1]...), start, s.cfg.Key)
		prev = sumIn(lines[start:])
		lines = append(lines, '\n')
	}
	if _, err := s.appendLocked(&ledger, lines); err != nil {
		return err
	}
	return s.flush(ledger.fd, ledgerName)
}

// sumIn returns the sum in a line.
func sumIn(line []byte) string {
	var e entry
	if json.Unmarshal(line, &e) != nil {
		return ""
	}
	return e.Sum
}
