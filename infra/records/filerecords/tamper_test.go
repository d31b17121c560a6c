package filerecords_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/policy/audit"
)

// folder is a store's folder as somebody with an editor can change it.
type folder struct {
	t   *testing.T
	dir string
	ids []string // of the records, oldest first; by one writer, one a minute over the last days
}

func (f folder) object(i int) string {
	f.t.Helper()
	found, err := filepath.Glob(filepath.Join(f.dir, "executions", "*", f.ids[i]+".json"))
	if err != nil || len(found) != 1 {
		f.t.Fatalf("object of %s: %v %v", f.ids[i], found, err)
	}
	return found[0]
}

func (f folder) log(i int) string {
	at, _ := audit.IDTime(f.ids[i])
	return filepath.Join(f.dir, "audit-"+at.Format(time.DateOnly)+".jsonl")
}

func (f folder) change(path string, fn func(lines []string) []string) {
	f.t.Helper()
	doc, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(fn(strings.SplitAfter(string(doc), "\n")), "")), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) line(i int) int {
	f.t.Helper()
	doc, err := os.ReadFile(f.log(i))
	if err != nil {
		f.t.Fatal(err)
	}
	for n, line := range strings.SplitAfter(string(doc), "\n") {
		if strings.Contains(line, f.ids[i]) {
			return n
		}
	}
	f.t.Fatalf("no line of %s", f.ids[i])
	return 0
}

func (f folder) remove(path string) {
	f.t.Helper()
	for os.RemoveAll(path) != nil { // an open store may be making a draft in it just now
	}
}

func (f folder) cut(i int) {
	n := f.line(i)
	f.change(f.log(i), func(lines []string) []string { return slices.Delete(lines, n, n+1) })
}

// forge changes the status of record i and recomputes its hash, as anybody without the key can.
func (f folder) forge(i int) string {
	f.t.Helper()
	doc, err := os.ReadFile(f.object(i))
	if err != nil {
		f.t.Fatal(err)
	}
	r, err := audit.Decode(doc)
	if err != nil {
		f.t.Fatal(err)
	}
	prev := audit.Head{Writer: r.Chain.Writer, Seq: r.Chain.Seq - 1, Hash: r.Chain.Prev}
	r.Status = "blocked"
	s, err := audit.Seal(r, prev, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(s.Line)
}

func TestVerifyNamesWhatWasDone(t *testing.T) {
	for _, c := range []struct {
		name  string
		act   func(f folder)
		fault audit.Fault
		who   int // index of the record that the report must name; -1 if its name is lost
		only  bool
	}{
		{"nothing", func(folder) {}, "", 0, true},
		{"object removed", func(f folder) { f.remove(f.object(3)) }, audit.Missing, 3, true},
		{"line removed", func(f folder) { f.cut(3) }, audit.Missing, 3, true},
		{"record removed", func(f folder) { f.remove(f.object(3)); f.cut(3) }, audit.Missing, 3, true},
		{"two records removed", func(f folder) {
			for i := 3; i < 5; i++ {
				f.remove(f.object(i))
				f.cut(i)
			}
		}, audit.Missing, 4, false},
		{"pipe in the place of an object", func(f folder) {
			path := f.object(3)
			f.remove(path)
			if err := unix.Mkfifo(path, 0o600); err != nil {
				f.t.Fatal(err)
			}
		}, audit.Unreadable, 3, true},
		{"pipe in the place of the lines", func(f folder) {
			f.remove(f.log(9))
			if err := unix.Mkfifo(f.log(9), 0o600); err != nil {
				f.t.Fatal(err)
			}
		}, audit.Missing, 9, false},
		{"line without an end", func(f folder) {
			f.change(f.log(9), func(l []string) []string { return append(l, strings.Repeat("x", audit.MaxBytes+2)+"\n") })
		}, audit.Unreadable, -1, false},
		{"newest object removed", func(f folder) { f.remove(f.object(9)) }, audit.Missing, 9, true},
		{"newest line removed", func(f folder) { f.cut(9) }, audit.Missing, 9, true},
		{"newest record removed", func(f folder) { f.remove(f.object(9)); f.cut(9) }, audit.Truncated, 9, true},
		{"day removed", func(f folder) { f.remove(filepath.Dir(f.object(9))); f.remove(f.log(9)) }, audit.Truncated, 9,
			false},
		{"line altered", func(f folder) {
			n := f.line(4)
			f.change(f.log(4), func(l []string) []string { l[n] = strings.Replace(l[n], "acme", "evil", 1); return l })
		}, audit.Altered, 4, false},
		{"object altered", func(f folder) {
			f.change(f.object(4), func(l []string) []string { l[0] = strings.Replace(l[0], "acme", "evil", 1); return l })
		}, audit.Altered, 4, true},
		{"space added to an object", func(f folder) {
			f.change(f.object(4), func(l []string) []string { l[0] = strings.Replace(l[0], ":", ": ", 1); return l })
		}, audit.Altered, 4, true},
		{"field added to an object", func(f folder) {
			f.change(f.object(4), func(l []string) []string { l[0] = `{"status":"blocked",` + l[0][1:]; return l })
		}, audit.Altered, 4, true},
		{"object emptied", func(f folder) { f.change(f.object(4), func([]string) []string { return nil }) }, audit.Altered, 4,
			true},
		{"object forged", func(f folder) {
			forged := f.forge(4)
			f.change(f.object(4), func([]string) []string { return []string{forged} })
		}, audit.Altered, 4, true},
		{"record forged", func(f folder) {
			forged, n := f.forge(4), f.line(4)
			f.change(f.object(4), func([]string) []string { return []string{forged} })
			f.change(f.log(4), func(l []string) []string { l[n] = forged; return l })
		}, audit.Altered, 4, true},
		{"newest record forged", func(f folder) {
			forged, n := f.forge(9), f.line(9)
			f.change(f.object(9), func([]string) []string { return []string{forged} })
			f.change(f.log(9), func(l []string) []string { l[n] = forged; return l })
		}, audit.Altered, 9, true},
		{"objects exchanged", func(f folder) {
			a, b := f.object(5), f.object(6)
			for _, mv := range [][2]string{{a, a + ".x"}, {b, a}, {a + ".x", b}} {
				if err := os.Rename(mv[0], mv[1]); err != nil {
					f.t.Fatal(err)
				}
			}
		}, audit.Altered, 5, false},
		{"lines exchanged", func(f folder) {
			n := f.line(8)
			f.change(f.log(8), func(l []string) []string { l[n], l[n+1] = l[n+1], l[n]; return l })
		}, audit.Reordered, 8, true},
		{"line doubled", func(f folder) {
			n := f.line(8)
			f.change(f.log(8), func(l []string) []string { return slices.Insert(l, n, l[n]) })
		}, audit.Duplicated, 8, false},
		{"line cut short", func(f folder) {
			f.change(f.log(9), func(l []string) []string { n := len(l) - 2; l[n] = l[n][:50]; return l })
		}, audit.Missing, 9, true},
		{"strange file among the objects", func(f folder) {
			if err := os.WriteFile(filepath.Join(filepath.Dir(f.object(9)), "notes.txt"), nil, 0o600); err != nil {
				f.t.Fatal(err)
			}
		}, audit.Unknown, -1, true},
		{"record invented", func(f folder) {
			s, err := audit.Seal(recordstest.Sample(time.Now()), audit.Head{Writer: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}, nil)
			if err != nil {
				f.t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(filepath.Dir(f.object(9)), s.ID+".json"), s.Line, 0o600); err != nil {
				f.t.Fatal(err)
			}
		}, audit.Unknown, -1, true},
		{"record invented as the writer's next", func(f folder) {
			doc, err := os.ReadFile(f.object(9))
			if err != nil {
				f.t.Fatal(err)
			}
			last, err := audit.Unseal(doc, nil)
			if err != nil {
				f.t.Fatal(err)
			}
			s, err := audit.Seal(recordstest.Sample(time.Now()), last.Head(), nil)
			if err != nil {
				f.t.Fatal(err)
			}
			f.change(f.log(9), func(l []string) []string { return append(l, string(s.Line)) })
		}, audit.Unknown, -1, false},
		{"ledger removed", func(f folder) { f.remove(filepath.Join(f.dir, "writers", "ledger.jsonl")) }, audit.Unknown, 9,
			true},
		{"ledger altered", func(f folder) {
			f.change(filepath.Join(f.dir, "writers", "ledger.jsonl"), func(l []string) []string {
				l[0] = strings.Replace(l[0], `"seq":10`, `"seq":9`, 1)
				return l
			})
		}, audit.Unreadable, -1, false},
	} {
		for _, closed := range []bool{true, false} {
			if strings.HasPrefix(c.name, "ledger") && !closed {
				continue // there is none yet
			}
			name := c.name + map[bool]string{true: ", store closed", false: ", store open"}[closed]
			t.Run(name, func(t *testing.T) {
				f := folder{t: t, dir: t.TempDir()}
				s, err := filerecords.Open(f.dir, filerecords.Config{})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				// Four days; the last records lie together on the newest.
				noon := time.Now().UTC().Truncate(24 * time.Hour)
				for i, age := range []int{3, 3, 2, 2, 2, 1, 1, 0, 0, 0} {
					r := recordstest.Sample(noon.AddDate(0, 0, -age).Add(time.Duration(i) * time.Second))
					if err := s.Append(t.Context(), r); err != nil {
						t.Fatal(err)
					}
					f.ids = append(f.ids, r.ID)
				}
				if closed {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				c.act(f)
				check(t, f, c.fault, c.who, c.only)
			})
		}
	}
}

func check(t *testing.T, f folder, fault audit.Fault, who int, only bool) {
	t.Helper()
	reader, err := filerecords.OpenReader(f.dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	report, err := reader.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if fault == "" {
		if !report.OK() {
			t.Errorf("problems in a sound folder: %v", report.Problems)
		}
		return
	}
	named := false
	for _, p := range report.Problems {
		named = named || p.Fault == fault && (who < 0 || p.ID == f.ids[who])
	}
	if !named || only && len(report.Problems) != 1 {
		t.Errorf("want %s %v, got:", fault, who)
		for _, p := range report.Problems {
			t.Errorf("  %s", p)
		}
	}
}

// Nobody without the key can forge a record that verifies.
func TestVerifyWithKey(t *testing.T) {
	f := folder{t: t, dir: t.TempDir()}
	cfg := filerecords.Config{Key: []byte("a key of enough bytes")}
	s, err := filerecords.Open(f.dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r := recordstest.Sample(time.Now())
		if err := s.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		f.ids = append(f.ids, r.ID)
	}
	defer s.Close()
	if report, err := s.Verify(t.Context()); err != nil || !report.OK() {
		t.Fatalf("%v %v", err, report)
	}
	doc, err := os.ReadFile(f.object(2))
	if err != nil {
		t.Fatal(err)
	}
	var r audit.Record
	if err := json.Unmarshal(doc, &r); err != nil {
		t.Fatal(err)
	}
	r.Status = "blocked"
	prev := audit.Head{Writer: r.Chain.Writer, Seq: r.Chain.Seq - 1, Hash: r.Chain.Prev}
	forged, err := audit.Seal(r, prev, []byte("another key of some bytes"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{f.object(2), f.log(2)} {
		f.change(path, func(l []string) []string {
			for i := range l {
				if strings.Contains(l[i], f.ids[2]) {
					l[i] = string(forged.Line)
				}
			}
			return l
		})
	}
	if bytes.Equal(doc, forged.Line) {
		t.Fatal("nothing forged")
	}
	report, err := s.Verify(t.Context())
	if err != nil || report.OK() {
		t.Fatalf("%v %v", err, report)
	}
	if p := report.Problems[0]; p.ID != f.ids[2] || p.Fault != audit.Altered {
		t.Errorf("the first problem is %s of %s", p.Fault, p.ID)
	}
	if _, err := s.Get(t.Context(), f.ids[2]); err == nil {
		t.Error("a forged record was read")
	}
}
