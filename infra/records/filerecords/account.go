package filerecords

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// account holds the progress of each writer as the folder states it apart from the records.
type account struct {
	heads    map[string]head // the newest known state of each writer
	gaps     []audit.Gap
	problems []audit.Problem
}

// account reads the heads of open writers and then the ledger: a writer that ends meanwhile is in one of them.
func (t *tree) account() (account, error) {
	a := account{heads: map[string]head{}}
	names, err := list(t.root, writersDir)
	if errors.Is(err, unix.ENOENT) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	for _, name := range names {
		writer, ok := strings.CutSuffix(name, headSuffix)
		if !ok {
			continue
		}
		slots, err := readFile(t.root, writersDir+"/"+name)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return a, err
		}
		h, err := readHead(slots, t.cfg.Key)
		if err == nil && h.Writer != writer {
			err = fmt.Errorf("it belongs to %.40q", h.Writer)
		}
		if err != nil {
			a.problems = append(a.problems, audit.Problem{Fault: audit.Unreadable, Writer: writer,
				Place: writersDir + "/" + name, Detail: err.Error()})
			continue
		}
		a.heads[writer] = h
	}
	return a, t.readLedger(&a)
}

func (t *tree) readLedger(a *account) error {
	place := writersDir + "/" + ledgerName
	fd, size, err := openFile(t.root, place)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer shut(fd)
	prev, n := "", 0
	return eachLine(file{fd, place, size}, 0, func(line []byte, _ int64) error {
		n++
		bad := func(detail string) {
			a.problems = append(a.problems, audit.Problem{Fault: audit.Unreadable, Place: fmt.Sprintf("%s:%d", place, n),
				Detail: detail})
		}
		var e entry
		line = line[:len(line)-1]
		if err := audit.CheckSum(line, t.cfg.Key); err != nil {
			bad("this ledger line is altered: " + err.Error())
			return nil
		}
		if err := json.Unmarshal(line, &e); err != nil {
			bad("this is not a ledger line: " + err.Error())
			return nil
		}
		if e.Prev != prev {
			bad("a ledger line before this one was removed or altered")
		}
		prev = e.Sum
		switch e.Kind {
		case kindEnd:
			a.heads[e.Writer] = head{Writer: e.Writer, Seq: e.Seq, Hash: e.Hash, ID: e.ID, Done: true}
		case kindPruned:
			a.gaps = append(a.gaps, audit.Gap{From: e.From, Head: audit.Head{Writer: e.Writer, Seq: e.Seq, Hash: e.Hash}})
		}
		return nil
	})
}

// bounds passes the verifier the state of the writers: before was read before the records, after when their end was
// settled.
func bounds(v *audit.Verifier, before, after account) {
	for _, g := range after.gaps {
		v.Pruned(g)
	}
	for _, writer := range slices.Sorted(maps.Keys(after.heads)) {
		h := after.heads[writer]
		certain := audit.Head{Writer: writer}
		id := ""
		if old, ok := before.heads[writer]; ok {
			certain, id = old.certain()
		}
		v.Bounds(certain, id, audit.Head{Writer: writer, Seq: h.Seq, Hash: h.Hash})
	}
	for _, p := range after.problems {
		v.Problem(p)
	}
}
