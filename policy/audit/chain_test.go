package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/policy/audit"
)

var key = []byte("0123456789abcdef")

func sealed(t testing.TB, n int, key []byte) []audit.Sealed {
	t.Helper()
	var all []audit.Sealed
	last := audit.Head{Writer: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}
	for i := range n {
		s, err := audit.Seal(audit.Record{
			ID: "exec_" + string(rune('a'+i)), Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("x", 3600)),
			Ending: audit.Ending{Error: "<&>\u2028\xff\"\n"}, Assessment: audit.Assessment{Grants: []byte(`{ "a": [1, 2] }`)},
		}, last, key)
		if err != nil {
			t.Fatal(err)
		}
		all, last = append(all, s), s.Head()
	}
	return all
}

// The stored form is a promise to everybody who checks records without this code.
func TestSealedLine(t *testing.T) {
	const golden = `{"id":"exec_a","time":"2026-01-02T02:04:05.000006Z","durationMs":0,"caller":{},` +
		`"via":"","codeSha256":"","codeBytes":0,` +
		`"policy":"","engine":"","grants":{"a":[1,2]},"status":"","error":"<&>\u2028�\"\n",` +
		`"outputBytes":0,` +
		`"usage":{"wallMs":0,"cpuMs":0,"ticks":0,"memoryBytes":0,"outputBytes":0,"apiCalls":0,"queueMs":0},"custody":null,` +
		`"chain":{"writer":"01ARZ3NDEKTSV4RRFFQ69G5FAV","seq":1,"prev":""`
	sum := sha256.Sum256([]byte(golden))
	want := golden + `,"hash":"` + hex.EncodeToString(sum[:]) + "\"}}\n"
	if got := string(sealed(t, 1, nil)[0].Line); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, key := range [][]byte{nil, key} {
		for i, s := range sealed(t, 3, key) {
			got, err := audit.Unseal(s.Line, key)
			if err != nil || got.ID != s.ID {
				t.Errorf("record %q, %v; want %q", got.ID, err, s.ID)
			}
			if got.Chain != s.Chain || got.Chain.Seq != int64(i+1) {
				t.Errorf("%s has the chain %+v, want %+v", s.ID, got.Chain, s.Chain)
			}
			if (got.Chain.MAC == "") != (key == nil) {
				t.Errorf("mac %q with key %q", got.Chain.MAC, key)
			}
			r, err := audit.Decode(s.Line)
			if err != nil || r.Chain != s.Chain {
				t.Errorf("%+v %v", r.Chain, err)
			}
		}
	}
}

// A record that is too large with its code and its request is stored without them, and says so. One that is too large
// even then is refused.
func TestSealLeavesOutWhatIsTooLarge(t *testing.T) {
	large := audit.Record{
		ID: "exec_a", Source: audit.Source{Code: strings.Repeat("x", audit.MaxBytes/2), CodeBytes: 7},
		Inputs:     audit.Inputs{Request: []byte(`"` + strings.Repeat("x", audit.MaxBytes/2) + `"`), Journal: []byte(`[1]`)},
		Assessment: audit.Assessment{Reasons: []string{"first"}},
	}
	s, err := audit.Seal(large, audit.Head{Writer: "w"}, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Unseal(s.Line, key); err != nil {
		t.Error(err)
	}
	r, err := audit.Decode(s.Line)
	if err != nil || r.Code != "" || r.Request != nil {
		t.Errorf("%d bytes of code and %d of the request, %v", len(r.Code), len(r.Request), err)
	}
	if r.CodeBytes != 7 || string(r.Journal) != "[1]" || r.Chain.Seq != 1 {
		t.Errorf("the rest is %+v", r)
	}
	if len(r.Reasons) != 2 || !strings.Contains(r.Reasons[1], "are not stored") || len(large.Reasons) != 1 {
		t.Errorf("the reasons are %q", r.Reasons)
	}
	large.Error = strings.Repeat("x", audit.MaxBytes)
	if _, err := audit.Seal(large, audit.Head{Writer: "w"}, nil); err == nil {
		t.Error("a record of more bytes than are stored was sealed")
	}
}

// A record has the size of what is in it, whatever characters that has.
func TestSealedSize(t *testing.T) {
	t.Parallel()
	const n = 100_000
	s, err := audit.Seal(audit.Record{ID: "exec_a", Ending: audit.Ending{Error: strings.Repeat("<", n)},
		Inputs: audit.Inputs{Journal: []byte(`["` + strings.Repeat("&>", n/2) + `"]`)}}, audit.Head{Writer: "w"}, nil)
	if err != nil || len(s.Line) > 2*n+1000 {
		t.Errorf("%d bytes, %v", len(s.Line), err)
	}
}

// No byte of a line can be changed, removed or duplicated unnoticed.
func TestUnsealSeesEveryByte(t *testing.T) {
	for _, key := range [][]byte{nil, key} {
		line := string(sealed(t, 2, key)[1].Line)
		line = strings.TrimSuffix(line, "\n")
		for i := range line {
			for _, bad := range []string{line[:i] + line[i+1:], line[:i] + line[i:i+1] + line[i:],
				line[:i] + string(line[i]^1) + line[i+1:], line[:i] + " " + line[i:]} {
				if bad == line {
					continue // one of two equal neighbours was removed and put back
				}
				if _, err := audit.Unseal([]byte(bad), key); !errors.Is(err, audit.ErrAltered) {
					t.Fatalf("byte %d: %v\n%s", i, err, bad)
				}
			}
		}
	}
	if _, err := audit.Unseal(sealed(t, 1, nil)[0].Line, key); !errors.Is(err, audit.ErrAltered) {
		t.Errorf("a line without a mac passed with a key: %v", err)
	}
	if _, err := audit.Unseal(sealed(t, 1, []byte("fedcba9876543210"))[0].Line, key); !errors.Is(err, audit.ErrAltered) {
		t.Errorf("a line of another key passed: %v", err)
	}
}

func TestVerifier(t *testing.T) {
	lines := sealed(t, 8, nil)
	head := lines[7].Head()
	for _, c := range []struct {
		name  string
		order []int
		gap   *audit.Gap
		want  []string
	}{
		{"in order", []int{0, 1, 2, 3, 4, 5, 6, 7}, nil, nil},
		{"in no order", []int{5, 2, 7, 0, 1, 6, 4, 3}, nil, nil},
		{"one missing", []int{0, 1, 2, 4, 5, 6, 7}, nil, []string{"missing 4"}},
		{"first missing", []int{1, 2, 3, 4, 5, 6, 7}, nil, []string{"missing 1"}},
		{"several missing", []int{0, 3, 4, 7}, nil, []string{"missing 2", "missing 3", "missing 6", "missing 7"}},
		{"cut", []int{0, 1, 2, 3, 4}, nil, []string{"truncated 6", "truncated 7", "truncated 8"}},
		{"all gone", nil, nil, []string{"truncated 1", "truncated 2", "truncated 3", "truncated 4", "truncated 5",
			"truncated 6", "truncated 7", "truncated 8"}},
		{"doubled", []int{0, 1, 1, 2, 3, 4, 5, 6, 7}, nil, []string{"duplicated 2"}},
		{"doubled early", []int{0, 3, 3, 1, 2, 4, 5, 6, 7}, nil, []string{"duplicated 4"}},
		{"pruned", []int{3, 4, 5, 6, 7}, &audit.Gap{From: 1, Head: lines[2].Head()}, nil},
		{"pruned in the middle", []int{0, 1, 4, 5, 6, 7}, &audit.Gap{From: 3, Head: lines[3].Head()}, nil},
		{"pruned to the end", []int{0, 1}, &audit.Gap{From: 3, Head: lines[7].Head()}, nil},
		{"pruning interrupted", []int{1, 2, 3, 4, 5, 6, 7}, &audit.Gap{From: 1, Head: lines[2].Head()}, nil},
		{"pruned and then one missing", []int{4, 5, 6, 7}, &audit.Gap{From: 1, Head: lines[2].Head()}, []string{"missing 4"}},
		{"pruned by a lie", []int{3, 4, 5, 6, 7}, &audit.Gap{From: 1,
			Head: audit.Head{Writer: head.Writer, Seq: 3, Hash: strings.Repeat("0", 64)}}, []string{"altered 4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := audit.NewVerifier(nil)
			v.Bounds(head, "exec_h", head)
			if c.gap != nil {
				v.Pruned(*c.gap)
			}
			for _, i := range c.order {
				if _, err := v.Line(lines[i].Line, "somewhere", ""); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, p := range v.Report(true).Problems {
				got = append(got, string(p.Fault)+" "+string(rune('0'+p.Seq)))
				// Of each missing run the last record can be named: its ID is in the record after it, or in the
				// writer's head.
				if last := !slices.Contains(c.want, string(p.Fault)+" "+string(rune('1'+p.Seq))); (p.ID == "exec_"+
					string(rune('`'+p.Seq))) != last && p.Fault != audit.Duplicated {
					t.Errorf("%s has the name %q", got[len(got)-1], p.ID)
				}
			}
			if strings.Join(got, ", ") != strings.Join(c.want, ", ") {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// Checking a chain takes time in proportion to its records and gaps, in whatever order the store has them and whatever
// is missing. A quadratic check of as many takes minutes.
func TestVerifierIsNotKeptBusyByHoles(t *testing.T) {
	const records = 100_000
	last, lines := audit.Head{Writer: "w"}, make([]audit.Sealed, 0, records)
	for range records {
		s, err := audit.Seal(audit.Record{ID: "x"}, last, nil)
		if err != nil {
			t.Fatal(err)
		}
		lines, last = append(lines, s), s.Head()
	}
	for _, c := range []struct {
		name            string
		pruned, forward bool
	}{
		{"every other record is missing", false, true},
		{"every other record is missing, backwards", false, false},
		{"every other record was pruned", true, true},
		{"every other record was pruned, backwards", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := audit.NewVerifier(nil)
			for i := range records / 2 {
				if n := 2 * i; c.pruned {
					if !c.forward {
						n = records - 2 - n
					}
					v.Pruned(audit.Gap{From: int64(n + 1), Head: lines[n].Head()})
				}
			}
			for i := range records / 2 {
				n := 2*i + 1
				if !c.forward {
					n = records - n
				}
				if _, err := v.Line(lines[n].Line, "here", ""); err != nil {
					t.Fatal(err)
				}
			}
			r := v.Report(false)
			found := len(r.Problems) + r.Omitted
			if want := map[bool]int{false: records / 2, true: 0}[c.pruned]; found != want {
				t.Errorf("%d problems; want %d: %+v", found, want, r.Problems[:min(len(r.Problems), 3)])
			}
		})
	}
}

func TestVerifierIsNotKeptBusyByAForgedNumber(t *testing.T) {
	s, err := audit.Seal(audit.Record{ID: "x"}, audit.Head{Writer: "w", Seq: 1 << 60}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := audit.NewVerifier(nil)
	if _, err := v.Line(s.Line, "here", "f"); err != nil {
		t.Fatal(err)
	}
	if r := v.Report(false); len(r.Problems) != 10_000 || r.Omitted == 0 {
		t.Errorf("%d problems, %d omitted", len(r.Problems), r.Omitted)
	}
}

func TestDay(t *testing.T) {
	at := time.Date(2026, 7, 1, 23, 30, 0, 0, time.FixedZone("x", -3600))
	for id, want := range map[string]string{
		"exec_01ARZ3NDEKTSV4RRFFQ69G5FAV": "2016-07-30",
		"exec_01arz3ndektsv4rrffq69g5fav": "2016-07-30",
		"exec_01ARZ3NDEKTSV4RRFFQ69G5FA":  "2026-07-02",
		"exec_U1ARZ3NDEKTSV4RRFFQ69G5FAV": "2026-07-02",
		"other":                           "2026-07-02",
		"exec_0107abcdef0123456789abcdef": "2026-07-02", // a hash, although it parses as a ULID of 2005
	} {
		if got := audit.Day(id, at); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

func FuzzUnseal(f *testing.F) {
	for _, s := range sealed(f, 2, key) {
		f.Add(s.Line)
	}
	f.Add(sealed(f, 1, nil)[0].Line)
	f.Add([]byte(`{"chain":{"hash":""}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, err := audit.Unseal(line, nil)
		v := audit.NewVerifier(nil)
		_, again := v.Line(line, "here", "f")
		if (err == nil) != (again == nil) && s.Chain.Seq > 0 {
			t.Errorf("%v and %v", err, again)
		}
		v.Report(true)
		if err == nil {
			if _, err := audit.Decode(line); err != nil && s.ID != "" && s.Chain.Writer == "" {
				t.Error(err)
			}
		}
	})
}

func TestFiled(t *testing.T) {
	at := time.Date(2026, 7, 1, 23, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		name, id, day string
		wrong         bool
	}{
		{"own day", "other", "2026-07-01", false},
		{"another day", "other", "2026-07-02", true},
		{"the day of a hash", "exec_0107abcdef0123456789abcdef", "2005-02-16", true},
		{"own day of a hash", "exec_0107abcdef0123456789abcdef", "2026-07-01", false},
		{"the day of an id after midnight", "exec_" + ulidAt(at.Add(time.Hour)), "2026-07-02", false},
		{"the day of an id of another time", "exec_" + ulidAt(at.Add(-48*time.Hour)), "2026-06-29", true},
	} {
		s, err := audit.Seal(audit.Record{ID: c.id, Time: at}, audit.Head{Writer: "w"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := audit.NewVerifier(nil)
		got, err := v.Line(s.Line, "here", "")
		if err != nil {
			t.Fatal(err)
		}
		v.Filed(got, c.day, "here")
		if r := v.Report(false); r.OK() == c.wrong || c.wrong && r.Problems[0].Fault != audit.Misfiled {
			t.Errorf("%s: %v", c.name, r.Problems)
		}
	}
}

func ulidAt(at time.Time) string { return ulid.MustNew(ulid.Timestamp(at), nil).String() }
