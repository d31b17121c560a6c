package filerecords

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// Verify reads every record in both layouts and compares each with its hash, its chain, the state of its writer, and
// the other layout. It may run while records are written, and it writes nothing. It fails only if the folder cannot be
// read; the report names what is wrong with the records.
func (s *Store) Verify(ctx context.Context) (audit.Report, error) { return s.VerifyAgainst(ctx, nil) }

// VerifyAgainst verifies the chains against anchors too.
func (s *Store) VerifyAgainst(ctx context.Context, anchors []audit.Anchor) (audit.Report, error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.root < 0 {
		return audit.Report{}, ErrClosed
	}
	for {
		report, pruned, err := s.verify(ctx, anchors)
		if err != nil {
			return audit.Report{}, fmt.Errorf("verify records: %w", err)
		}
		if !pruned { // otherwise retention removed days meanwhile
			return report, nil
		}
	}
}

func (t *tree) verify(ctx context.Context, anchors []audit.Anchor) (report audit.Report, pruned bool, err error) {
	before, err := t.account()
	if err != nil {
		return report, false, err
	}
	days, err := t.allDays()
	if err != nil {
		return report, false, err
	}
	sizes := map[string]int64{}
	for _, day := range days {
		var st unix.Stat_t
		if err := unix.Fstatat(t.root, logName(day), &st, 0); err == nil {
			sizes[day] = st.Size
		} else if !errors.Is(err, unix.ENOENT) {
			return report, false, err
		}
	}
	after, err := t.account()
	if err != nil {
		return report, false, err
	}
	c := check{tree: t, v: audit.NewVerifier(t.cfg.Key), before: before, gaps: after.gaps}
	bounds(c.v, before, after)
	for _, a := range anchors {
		c.v.Anchor(a)
	}
	for _, day := range days {
		if err := c.day(ctx, day, sizes[day]); err != nil {
			return report, false, err
		}
	}
	end, err := t.account()
	for _, p := range c.loose {
		if p.Seq > end.heads[p.Writer].Seq {
			p.Fault, p.Detail = audit.Unknown, "it has no line, and its writer's state ends before it"
			c.v.Problem(p)
		}
	}
	return c.v.Report(true), len(end.gaps) != len(after.gaps), err
}

// allDays returns the days of either layout, oldest first.
func (t *tree) allDays() ([]string, error) {
	days, err := t.listDays()
	if err != nil {
		return nil, err
	}
	folders, err := list(t.root, objectsDir)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return nil, err
	}
	for _, name := range folders {
		if day, ok := strings.CutPrefix(name, dayPrefix); ok && isDay(day) {
			days = append(days, day)
		}
	}
	slices.Sort(days)
	return slices.Compact(days), nil
}

// check is a verification in progress.
type check struct {
	tree   *tree
	v      *audit.Verifier
	before account
	gaps   []audit.Gap
	seed   maphash.Seed
	lines  map[string]seen // the lines of the day, by id
	loose  []audit.Problem // objects without a line, newer than the account before
}

// seen is a line that was read.
type seen struct {
	sum    uint64
	sound  bool
	sealed audit.Sealed
}

func (c *check) day(ctx context.Context, day string, size int64) error {
	c.lines, c.seed = map[string]seen{}, maphash.MakeSeed()
	if err := c.log(ctx, day, size); err != nil {
		return err
	}
	folder := objectsDir + "/" + dayPrefix + day
	names, err := list(c.tree.root, folder)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if strings.HasPrefix(name, ".") {
			continue
		}
		if err := c.object(day, folder+"/"+name, name); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.lines)) {
		s := c.lines[id].sealed
		if slices.ContainsFunc(c.gaps, func(g audit.Gap) bool { return g.Covers(s.Chain) }) {
			continue // retention was interrupted; it removes the lines last
		}
		c.v.Problem(audit.Problem{Fault: audit.Missing, ID: id, Writer: s.Chain.Writer, Seq: s.Chain.Seq,
			Place: folder + "/" + objectName(id), Detail: "its line is in " + logName(day) + ", its object is gone"})
	}
	return nil
}

// log reads the day's lines, up to a size that was reached before the heads were read.
func (c *check) log(ctx context.Context, day string, size int64) error {
	name := logName(day)
	fd, _, err := openFile(c.tree.root, name)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		c.v.Problem(audit.Problem{Fault: audit.Unreadable, Place: name, Detail: err.Error()})
		return nil // the records that it should have are then missing
	}
	defer shut(fd)
	n := 0
	err = eachLine(file{fd, name, size}, 0, func(line []byte, _ int64) error {
		n++
		place := fmt.Sprintf("%s:%d", name, n)
		s, err := c.v.Line(line, place, name)
		if _, twice := c.lines[s.ID]; twice && err == nil {
			c.v.Problem(audit.Problem{Fault: audit.Duplicated, ID: s.ID, Writer: s.Chain.Writer, Seq: s.Chain.Seq,
				Place: place, Detail: "the file has another line with this id"})
			return nil
		}
		if audit.ValidID(s.ID) {
			if err == nil {
				c.v.Filed(s, day, place)
			}
			s.Line = nil
			c.lines[s.ID] = seen{sum: maphash.Bytes(c.seed, line), sound: err == nil, sealed: s}
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		c.v.Problem(audit.Problem{Fault: audit.Unreadable, Place: fmt.Sprintf("%s:%d", name, n+1), Detail: err.Error()})
		return nil
	}
	return err
}

// object compares one object with its line.
func (c *check) object(day, place, name string) error {
	id, ok := strings.CutSuffix(name, objectSuffix)
	if !ok || !audit.ValidID(id) {
		c.v.Problem(audit.Problem{Fault: audit.Unknown, Place: place, Detail: "this file is not named like a record"})
		return nil
	}
	doc, err := readFile(c.tree.root, place)
	if errors.Is(err, unix.ENOENT) {
		return nil // retention; its lines are gone too
	}
	if err != nil {
		c.v.Problem(audit.Problem{Fault: audit.Unreadable, ID: id, Place: place, Detail: err.Error()})
		delete(c.lines, id)
		return nil
	}
	line, ok := c.lines[id]
	delete(c.lines, id)
	if ok && maphash.Bytes(c.seed, doc) == line.sum {
		return nil
	}
	s, err := audit.Unseal(doc, c.tree.cfg.Key)
	settled, _ := c.before.heads[s.Chain.Writer].certain()
	p := audit.Problem{Fault: audit.Altered, ID: id, Writer: s.Chain.Writer, Seq: s.Chain.Seq, Place: place}
	switch {
	case err != nil:
		p.Detail = err.Error()
		c.v.Problem(p)
	case s.ID != id:
		p.Detail = fmt.Sprintf("the file holds record %.40q", s.ID)
		c.v.Problem(p)
	case !ok && s.Chain.Seq > settled.Seq:
		c.loose = append(c.loose, p) // being written, or left by a kill for the next opening to complete
	case !ok:
		p.Fault, p.Detail = audit.Missing, "its line is not in "+logName(day)
		c.v.Problem(p)
		if !bytes.HasSuffix(doc, []byte("\n")) {
			doc = append(doc, '\n')
		}
		_, _ = c.v.Line(doc, place, "") // proved above; this keeps its chain whole
	case line.sound:
		p.Detail = "its line in " + logName(day) + " says something else"
		c.v.Problem(p)
	}
	return nil
}
