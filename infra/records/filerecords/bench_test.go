package filerecords_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/policy/audit"
)

// sample returns a record of ordinary size, about 1.3 KB when stored.
func sample() audit.Record {
	return audit.Record{
		ID: "exec_" + ulid.Make().String(), Time: time.Now(), DurationMs: 1.25,
		Caller: audit.Caller{Subject: "someone", Tenant: "acme", IP: "192.0.2.7"}, Via: "http",
		Source: audit.Source{CodeSHA256: strings.Repeat("ab", 32), CodeBytes: 311, Language: "javascript"},
		Policy: "standard", Engine: "quickjs",
		Assessment: audit.Assessment{Grants: json.RawMessage(`{"network":[],"modules":["buffer","crypto","url","util"]}`),
			DangerAnalysis: json.RawMessage(`{"score":0,"level":"safe","findings":[]}`),
			ASTTelemetry: json.RawMessage(`{"isValid":true,"accessedIdentifiers":["JSON","console"],` +
				`"metrics":{"loopCount":1,"functionCount":2,"astNodeCount":31,"maxDepth":5,"cyclomatic":3,"bytes":311,` +
				`"lines":10},"flags":{"hasEval":false,"hasRequire":false}}`)},
		Ending: audit.Ending{Status: "completed", OutputBytes: 3,
			Usage: audit.Usage{WallMs: 1.25, CPUMs: 1.1, Ticks: 31, MemoryBytes: 1310720}},
		Custody: []audit.Step{{Step: audit.Received}, {Step: audit.Decided, AtMs: .1}, {Step: audit.Started, AtMs: .2},
			{Step: audit.Finished, AtMs: 1.4}, {Step: audit.Recorded, AtMs: 1.5}},
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, cfg := range map[string]filerecords.Config{"process": {}, "sync": {Sync: true},
		"key": {Key: []byte("0123456789abcdef")}} {
		b.Run(name, func(b *testing.B) {
			s, err := filerecords.Open(b.TempDir(), cfg)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			for b.Loop() {
				if err := s.Append(b.Context(), sample()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		s, err := filerecords.Open(dir, filerecords.Config{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s, err := filerecords.Open(b.TempDir(), filerecords.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := sample()
	if err := s.Append(b.Context(), r); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Get(b.Context(), r.ID); err != nil {
			b.Fatal(err)
		}
	}
}
