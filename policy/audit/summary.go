package audit

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// ErrBehind is returned by an index that has not yet processed all records.
var ErrBehind = errors.New("the index of the records is being built")

// An Outline is the part of a record that a [Summary] is computed from.
type Outline struct {
	ID         string    `json:"-"`
	Time       time.Time `json:"-"`
	Tenant     string    `json:"t,omitempty"`
	Status     string    `json:"s"`
	Policy     string    `json:"p"`
	Via        string    `json:"v"`
	Limit      string    `json:"l,omitempty"`
	DurationMs float64   `json:"d"`
	QueueMs    float64   `json:"q,omitempty"`
	CPUMs      float64   `json:"c"`
	Memory     int64     `json:"m"` // bytes
	Output     int64     `json:"o"` // bytes
	APICalls   int       `json:"a,omitempty"`
	Reused     bool      `json:"r,omitempty"`
	// Failure says why it did not complete: "limit:memory", the name of a thrown error ("TypeError"), or the status.
	Failure string `json:"x,omitempty"`
	// Level is "" for a record without an analysis.
	Level    string `json:"e,omitempty"`
	Score    int    `json:"-"`
	Findings []Mark `json:"f,omitempty"`
	// Function is the name of the saved function that ran, or "".
	Function string `json:"-"`
}

// A Mark is the kind of a finding.
type Mark struct {
	Severity string `json:"severity"`
	Category string `json:"category"`
}

type analysis struct {
	Score    int    `json:"score"`
	Level    string `json:"level"`
	Findings []Mark `json:"findings"`
}

// OutlineOf returns the outline of a record. An analysis that cannot be parsed counts as none.
func OutlineOf(r Record) Outline {
	o := Outline{
		ID: r.ID, Time: r.Time, Tenant: r.Caller.Tenant, Status: r.Status, Policy: r.Policy, Via: r.Via, Limit: r.Limit,
		DurationMs: r.DurationMs, QueueMs: r.Usage.QueueMs, CPUMs: r.Usage.CPUMs, Memory: r.Usage.MemoryBytes,
		Output: r.OutputBytes, APICalls: r.Usage.APICalls, Reused: r.Reused != "",
		Failure: failure(r.Status, r.Limit, r.Error),
	}
	if r.Function != nil {
		o.Function = r.Function.Name
	}
	var a analysis
	if json.Unmarshal(r.DangerAnalysis, &a) == nil {
		o.Level, o.Score, o.Findings = a.Level, a.Score, a.Findings
	}
	return o
}

// failure returns Outline.Failure. If a guest throws an error with a name of its own, it is the status.
func failure(status, limit, line string) string {
	switch {
	case status == "completed":
		return ""
	case limit != "":
		return "limit:" + limit
	}
	name, _, _ := strings.Cut(line, ":")
	switch name {
	case "Error", "TypeError", "RangeError", "ReferenceError", "SyntaxError", "EvalError", "URIError", "InternalError",
		"AggregateError":
		if status == "error" {
			return name
		}
	}
	return status
}

// A Summary holds totals over records. The zero value is the summary of no records. It is not safe for concurrent use.
type Summary struct {
	Records     int64     `json:"n"`
	Oldest      time.Time `json:"first,omitzero"`
	Newest      time.Time `json:"last,omitzero"`
	Reused      int64     `json:"re,omitempty"`
	DurationMs  float64   `json:"dur"`
	QueueMs     float64   `json:"que"`
	CPUMs       float64   `json:"cpu"`
	OutputBytes int64     `json:"out"`
	APICalls    int64     `json:"calls"`
	Peaks
	// Durations and Queues are distributions of milliseconds, Memory of bytes: see [MemoryBound].
	Durations Spread            `json:"sd,omitempty"`
	Queues    Spread            `json:"sq,omitempty"`
	Memory    [MemoryBins]int64 `json:"sm"`
	// Slowest holds the 8 slowest executions that have an id, slowest first.
	Slowest []Slow `json:"sl,omitempty"`

	Counts
}

// Peaks holds the largest values of single records.
type Peaks struct {
	PeakMemoryBytes int64   `json:"peak"`
	PeakDurationMs  float64 `json:"pd"`
	PeakQueueMs     float64 `json:"pq"`
}

// Counts holds numbers of records by a member of them.
type Counts struct {
	ByStatus   map[string]int64 `json:"st,omitempty"`
	ByPolicy   map[string]int64 `json:"po,omitempty"`
	ByVia      map[string]int64 `json:"vi,omitempty"`
	ByLimit    map[string]int64 `json:"li,omitempty"`
	ByLevel    map[string]int64 `json:"le,omitempty"`
	BySeverity map[string]int64 `json:"se,omitempty"`
	ByCategory map[string]int64 `json:"ca,omitempty"`
	ByFailure  map[string]int64 `json:"fa,omitempty"`
	ByTenant   map[string]int64 `json:"tn,omitempty"`
	// Flagged counts, by tenant, the records with findings.
	Flagged map[string]int64 `json:"te,omitempty"`
}

// Add adds one record.
func (f *Summary) Add(o Outline) {
	f.span(o.Time, o.Time)
	f.Records++
	f.DurationMs += o.DurationMs
	f.QueueMs += o.QueueMs
	f.CPUMs += o.CPUMs
	f.OutputBytes += o.Output
	f.APICalls += int64(o.APICalls)
	f.PeakMemoryBytes = max(f.PeakMemoryBytes, o.Memory)
	f.PeakDurationMs, f.PeakQueueMs = max(f.PeakDurationMs, o.DurationMs), max(f.PeakQueueMs, o.QueueMs)
	f.Durations.Add(o.DurationMs)
	f.Queues.Add(o.QueueMs)
	f.Memory[memoryBin(o.Memory)]++
	if o.ID != "" && (len(f.Slowest) < mostSlow || o.DurationMs >= f.Slowest[mostSlow-1].DurationMs) {
		f.Slowest = slower(f.Slowest, Slow{o.ID, o.DurationMs})
	}
	if o.Reused {
		f.Reused++
	}
	if o.Failure != "" {
		count(&f.ByFailure, o.Failure, 1)
	}
	count(&f.ByTenant, o.Tenant, 1)
	count(&f.ByStatus, o.Status, 1)
	count(&f.ByPolicy, o.Policy, 1)
	count(&f.ByVia, o.Via, 1)
	if o.Limit != "" {
		count(&f.ByLimit, o.Limit, 1)
	}
	if o.Level != "" {
		count(&f.ByLevel, o.Level, 1)
	}
	for _, m := range o.Findings {
		count(&f.BySeverity, m.Severity, 1)
		count(&f.ByCategory, m.Category, 1)
	}
	if len(o.Findings) > 0 {
		count(&f.Flagged, o.Tenant, 1)
	}
}

// Merge adds the records of g.
func (f *Summary) Merge(g Summary) {
	if g.Records == 0 {
		return
	}
	f.span(g.Oldest, g.Newest)
	f.Records += g.Records
	f.Reused += g.Reused
	f.DurationMs += g.DurationMs
	f.QueueMs += g.QueueMs
	f.CPUMs += g.CPUMs
	f.OutputBytes += g.OutputBytes
	f.APICalls += g.APICalls
	f.PeakMemoryBytes = max(f.PeakMemoryBytes, g.PeakMemoryBytes)
	f.PeakDurationMs, f.PeakQueueMs = max(f.PeakDurationMs, g.PeakDurationMs), max(f.PeakQueueMs, g.PeakQueueMs)
	f.Durations.Merge(g.Durations)
	f.Queues.Merge(g.Queues)
	for bin, n := range g.Memory {
		f.Memory[bin] += n
	}
	if len(g.Slowest) > 0 {
		f.Slowest = slower(slices.Clone(f.Slowest), g.Slowest...)
	}
	for _, m := range []struct {
		to   *map[string]int64
		from map[string]int64
	}{
		{&f.ByStatus, g.ByStatus}, {&f.ByPolicy, g.ByPolicy}, {&f.ByVia, g.ByVia}, {&f.ByLimit, g.ByLimit},
		{&f.ByLevel, g.ByLevel}, {&f.BySeverity, g.BySeverity}, {&f.ByCategory, g.ByCategory},
		{&f.ByFailure, g.ByFailure}, {&f.ByTenant, g.ByTenant}, {&f.Flagged, g.Flagged},
	} {
		for name, n := range m.from {
			count(m.to, name, n)
		}
	}
}

func (f *Summary) span(oldest, newest time.Time) {
	if f.Records == 0 || oldest.Before(f.Oldest) {
		f.Oldest = oldest
	}
	if f.Records == 0 || newest.After(f.Newest) {
		f.Newest = newest
	}
}

func count(in *map[string]int64, name string, n int64) {
	if *in == nil {
		*in = map[string]int64{}
	}
	(*in)[name] += n
}
