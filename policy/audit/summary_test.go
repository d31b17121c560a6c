package audit_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// The outline of a line equals that of its record, whatever the shape of its analysis.
func TestOutlines(t *testing.T) {
	var outlines audit.Outlines
	for _, analysis := range []string{
		"", `null`, `{}`, `[1]`, `{"score":"x"}`,
		`{"score":55,"level":"high","findings":[{"category":"eval","severity":"high","line":3}]}`,
	} {
		r := audit.Record{
			ID: "exec_1", Time: time.Unix(1e9, 5).UTC(), DurationMs: 2, Caller: audit.Caller{Tenant: "acme"}, Via: "mcp",
			Policy: "strict",
			Ending: audit.Ending{Status: "error", Limit: "memory", OutputBytes: 7, Usage: audit.Usage{CPUMs: 1,
				MemoryBytes: 3, APICalls: 4}},
			Assessment: audit.Assessment{DangerAnalysis: json.RawMessage(analysis)},
		}
		if analysis != "" {
			r.Function = &audit.FunctionRef{Name: "report", Version: 3}
		}
		s, err := audit.Seal(r, audit.Head{Writer: "w"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := outlines.Read(s.Line)
		if want := audit.OutlineOf(r); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%+v, want\n%+v", analysis, err, got, want)
		}
	}
	for _, line := range []string{"", "x", "[]", `{"id":1}`, `{"id":"a"`, `{"id":"a"} x`, `{"id":"a","durationMs":"1"}`} {
		if o, err := outlines.Read([]byte(line)); err == nil && o.ID != "" {
			t.Errorf("%q gives %+v", line, o)
		}
	}
}

// FuzzOutlines holds that any line is read or refused, and that a line read has the id that the whole record has.
func FuzzOutlines(f *testing.F) {
	for _, line := range []string{"", "[]", "{}", `{"id":"a"}`,
		`{"id":"\u0061","caller":{"tenant":"t"},"usage":{"cpuMs":1e3},"dangerAnalysis":{"findings":[{"category":"c"}]}}`,
		`{"id":"a","time":"2006-01-02T15:04:05Z","caller":null,"usage":[],"outputBytes":1.5}`, `{"id":"a"}}`,
		`{"dangerAnalysis":{"findings":[[`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var outlines audit.Outlines
		for range 2 { // nothing of one line may appear in the next
			o, err := outlines.Read(line)
			r, failed := audit.Decode(line)
			lower := bytes.ToLower(line)
			plain := !bytes.Contains(lower, []byte(`\u`)) && bytes.Count(lower, []byte(`"id"`)) == 1
			if both := err == nil && failed == nil; both && plain && !strings.EqualFold(o.ID, r.ID) {
				t.Errorf("%q: id %q, of the whole record %q", line, o.ID, r.ID)
			}
			if err != nil && failed == nil {
				t.Errorf("%q is a record, but %v", line, err)
			}
		}
	})
}

func TestSummariesMerge(t *testing.T) {
	var whole, first, second, both audit.Summary
	for i, status := range []string{"completed", "blocked", "completed"} {
		o := audit.Outline{Time: time.Unix(int64(1000-i), 0), Tenant: "acme", Status: status, Memory: int64(i), Score: 9,
			Level: "low", Findings: []audit.Mark{{Severity: "low", Category: "eval"}}}
		whole.Add(o)
		if i < 2 {
			first.Add(o)
		} else {
			second.Add(o)
		}
	}
	both.Merge(audit.Summary{})
	both.Merge(first)
	both.Merge(second)
	if !reflect.DeepEqual(both, whole) {
		t.Errorf("%+v, want %+v", both, whole)
	}
}

// The slowest executions are the same, and at most eight, in whatever order summaries are merged.
func TestSlowest(t *testing.T) {
	var whole, merged audit.Summary
	for part := range 4 {
		var f audit.Summary
		for i := range 5 {
			o := audit.Outline{ID: string(rune('a'+part)) + string(rune('0'+i)), DurationMs: float64(i)}
			f.Add(o)
			whole.Add(o)
		}
		merged.Merge(f)
	}
	want := []audit.Slow{{"d4", 4}, {"c4", 4}, {"b4", 4}, {"a4", 4}, {"d3", 3}, {"c3", 3}, {"b3", 3}, {"a3", 3}}
	if !reflect.DeepEqual(whole.Slowest, want) || !reflect.DeepEqual(merged.Slowest, want) {
		t.Errorf("%v, and merged %v; want %v", whole.Slowest, merged.Slowest, want)
	}
}
