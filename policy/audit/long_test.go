package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// longRecords are records whose requests and journals are long, in shapes that a search for their ends could take for
// others.
func longRecords() map[string]audit.Record {
	repeat := strings.Repeat
	out := map[string]audit.Record{}
	for name, text := range map[string]string{
		"numbers": "[0" + repeat(",0", 10_000) + "]", "text": `"` + repeat("x", 20_000) + `"`,
		"escapes":  `{"a":"` + repeat(`\\`, 10_000) + `","b":"` + repeat(`\"`, 10_000) + `\\\""}`,
		"brackets": `["` + repeat(`}]{[`, 5000) + `",` + repeat("[", 50) + repeat("]", 50) + `]`,
		"chain": `{"chain":{"hash":"` + repeat("0", 20_000) + `"},"request":1,"journal":` + repeat(`{"journal":`, 20) + "2" +
			repeat("}", 20) + "}",
		"objects": "[{}" + repeat(",{}", 10_000) + "]",
	} {
		r := audit.Record{ID: "exec_01J0000000000000000000000", Time: time.Unix(1e9, 5).UTC()}
		r.Caller.Tenant, r.Code, r.Status = "<a>", `"request":{"journal":[`+repeat("<&>\u2028", 4000), "completed"
		r.Request = json.RawMessage(text)
		out[name+" as request"] = r
		r.Journal = r.Request
		out[name+" as both"] = r
		r.Request = json.RawMessage(`{"journal":[1,2]}`)
		out[name+" as journal"] = r
	}
	return out
}

// A record is read as it was stored, and its JSON is that of Encode.
func TestLongRecords(t *testing.T) {
	t.Parallel()
	for name, want := range longRecords() {
		s, err := audit.Seal(want, audit.Head{Writer: "w"}, []byte("key"))
		if err != nil {
			t.Fatal(name, err)
		}
		want.Chain = s.Chain
		got, err := audit.Open(s.Line, []byte("key"))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, or another record", name, err)
		}
		if got, err = audit.Decode(s.Line); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, decoded: %v, or another record", name, err)
		}
		text, err := audit.AppendRead([]byte("before"), got)
		if err != nil || string(text) != "before"+string(bytes.TrimSuffix(s.Line, []byte("\n"))) {
			t.Errorf("%s: %v, or another JSON", name, err)
		}
		var outlines audit.Outlines
		outline, err := outlines.Read(s.Line)
		if err != nil || !reflect.DeepEqual(outline, audit.OutlineOf(want)) {
			t.Errorf("%s: %v, or another outline: %+v", name, err, outline)
		}
		for _, at := range []int{0, 1, 60, len(s.Line) / 2, len(s.Line) - 300, len(s.Line) - 3} {
			line := bytes.Clone(s.Line)
			line[at] ^= 1
			if _, err := audit.Open(line, nil); !errors.Is(err, audit.ErrAltered) {
				t.Errorf("%s, byte %d changed: %v", name, at, err)
			}
		}
	}
}

// The outline of a long line is read without a copy of its request and its journal.
func TestOutlinesOfLongRecords(t *testing.T) {
	r := audit.Record{ID: "exec_01J0000000000000000000000", Time: time.Unix(1e9, 5).UTC()}
	r.Request = json.RawMessage(`"` + strings.Repeat("x", 4<<20) + `"`)
	r.Journal = r.Request
	s, err := audit.Seal(r, audit.Head{Writer: "w"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var outlines audit.Outlines
	if _, err := outlines.Read(s.Line); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("the outline took %d bytes", n)
	}
}

// A line that is cut anywhere, or has a shape that no line is written in, is no record, or the one that package json
// reads.
func TestOddLongLines(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("x", 20_000) + `"`
	for _, line := range []string{
		`{"request":` + long, `{"request":` + long + `,`, `{"request":` + long + `}}`, `{"request":[` + long + `}`,
		`{"request":` + long + ` "journal":1}`, `{"request":` + long + `,"request":[` + long + `]}`, `[` + long + `]`,
		`{request:` + long + `}`, `{"request"` + long + `}`, `{"request":"` + strings.Repeat("\\", 20_001) + `"}`, long,
		`{"id":"a","request":"` + strings.Repeat("\x00", 20_000) + `"}`,
		`{"id":"a","request":` + long + `,"journal":{"a":` + long + `}, "via" : "http" } `,
	} {
		var want audit.Record
		bad := json.Unmarshal([]byte(line), &want)
		got, err := audit.Decode([]byte(line))
		if (err == nil) != (bad == nil) {
			t.Errorf("%.30s…%.20s: %v, want %v", line, line[len(line)-20:], err, bad)
		}
		if err == nil && bad == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%.30s: another record", line)
		}
	}
}
