package recordstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/policy/audit"
)

// Store is a store with the methods that the suite needs beyond the contract.
type Store interface {
	audit.Store
	io.Closer
	Verify(ctx context.Context) (audit.Report, error)
}

// A Fault is called before each call that a store makes to its storage, with the call's name, its subject and the
// number of bytes. It may fail the call by returning an error, or end the process.
type Fault func(call, about string, size int) error

// A Suite describes a store to the tests.
type Suite struct {
	// New creates an empty place, named such that Open in other processes finds it.
	New func(t *testing.T) string
	// Open opens a place; fault may be nil. Each opening is a writer of its own.
	Open func(place string, fault Fault) (Store, error)
	// Lanes is the number of chains that one opening writes at once at most; default 1.
	Lanes int
	// Short returns the error by which a Fault lets n bytes of a write through and then fails it with err. Nil if the
	// store's writes are atomic.
	Short func(n int, err error) error
	// Full is the error of a full storage. Nil if that cannot happen.
	Full error
	// Settled waits until the storage of a place has noticed that writers are gone. Nil if that is not necessary.
	Settled func(t *testing.T, place string)
}

// Run runs the suite.
func Run(t *testing.T, s Suite) {
	t.Helper()
	for _, part := range []struct {
		name string
		test func(*testing.T, Suite)
	}{
		{"append and get", appendAndGet},
		{"refused records", refused},
		{"exists", exists},
		{"list", listing},
		{"filters", filters},
		{"cursors", cursors},
		{"large pages", largePages},
		{"closed", closed},
		{"writers at once", writersAtOnce},
		{"one id, many writers", oneID},
		{"read while writing", readWhileWriting},
		{"no room", noRoom},
		{"failing calls", failingCalls},
		{"killed writer", killedWriter},
		{"writer killed in a write", killedInWrite},
		{"writers killed under load", killedUnderLoad},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, s) })
	}
}

// NewID returns an execution ID of that instant.
func NewID(at time.Time) string {
	return "exec_" + ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String()
}

var sampled atomic.Int64

// Sample returns a record of ordinary shape and size with an ID of its own.
func Sample(at time.Time) audit.Record {
	n := sampled.Add(1)
	return audit.Record{
		ID: NewID(at), Time: at.UTC(), DurationMs: 1.25, Via: "http",
		Caller: audit.Caller{Subject: fmt.Sprintf("user-%d", n%7), Tenant: "acme", IP: "192.0.2.7"},
		Source: audit.Source{CodeSHA256: strings.Repeat("ab", 32), CodeBytes: 311, Language: "javascript"},
		Policy: "standard", Engine: "quickjs",
		Assessment: audit.Assessment{Grants: []byte(`{"network":[],"modules":["buffer","crypto","url","util"]}`),
			DangerAnalysis: []byte(`{"score":0,"level":"safe","findings":[]}`),
			ASTTelemetry: []byte(`{"isValid":true,"accessedIdentifiers":["JSON","console","<é\u2028>"],` +
				`"metrics":{"loopCount":1}}`)},
		Ending: audit.Ending{Status: "completed", OutputBytes: 3,
			Usage: audit.Usage{WallMs: 1.25, CPUMs: 1.1, Ticks: 31, MemoryBytes: 1310720}},
		Custody: []audit.Step{{Step: audit.Received}, {Step: audit.Decided, AtMs: .1}, {Step: audit.Recorded, AtMs: 1.5}},
	}
}

func mustOpen(t *testing.T, s Suite, place string) Store {
	t.Helper()
	store, err := s.Open(place, nil)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { shut(t, store) })
	return store
}

func shut(t *testing.T, store Store) {
	t.Helper()
	if err := store.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func mustAppend(t *testing.T, store Store, records ...audit.Record) {
	t.Helper()
	for _, r := range records {
		if err := store.Append(t.Context(), r); err != nil {
			t.Fatalf("append %s: %v", r.ID, err)
		}
	}
}

// verified fails the test unless every chain holds.
func verified(t *testing.T, store Store) {
	t.Helper()
	verifiedAfter(t, store, nil)
}

// verifiedAfter checks a store after writers of its place were killed. If something is wrong, it waits for settled,
// which may be nil.
func verifiedAfter(t *testing.T, store Store, settled func()) {
	t.Helper()
	for try := 0; ; try++ {
		report, err := store.Verify(t.Context())
		if err != nil {
			t.Fatalf("verify: %v", err)
		}
		if len(report.Problems) > 0 && settled != nil && try < 3 {
			settled()
			continue
		}
		for _, p := range report.Problems {
			t.Errorf("verify: %s", p)
		}
		return
	}
}

// settling returns Settled for one place, or nil.
func (s Suite) settling(t *testing.T, place string) func() {
	if s.Settled == nil {
		return nil
	}
	return func() { s.Settled(t, place) }
}

// all lists everything that a query selects, in pages of a size, and fails on duplicates.
func all(t *testing.T, store Store, q audit.Query) []audit.Record {
	t.Helper()
	var items []audit.Record
	ids := map[string]bool{}
	for {
		page, err := store.List(t.Context(), q)
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		for _, r := range page.Items {
			if ids[r.ID] {
				t.Errorf("%s is listed twice", r.ID)
			}
			ids[r.ID] = true
			items = append(items, r)
		}
		if page.Next == "" {
			return items
		}
		if q.Cursor == page.Next {
			t.Fatal("the cursor does not move")
		}
		q.Cursor = page.Next
	}
}

func listed(t *testing.T, store Store) []string {
	t.Helper()
	var ids []string
	for _, r := range all(t, store, audit.Query{Limit: 100}) {
		ids = append(ids, r.ID)
	}
	return ids
}

// holds fails the test unless the store has every record of must, nothing beyond must and may, and sound chains.
func holds(t *testing.T, store Store, must, may map[string]bool, settled func()) {
	t.Helper()
	found := map[string]bool{}
	for _, id := range listed(t, store) {
		found[id] = true
		if !must[id] && !may[id] {
			t.Errorf("%s is there and was never written", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(must)) {
		if !found[id] {
			t.Errorf("%s was confirmed and is not listed", id)
		}
		if _, err := store.Get(t.Context(), id); err != nil {
			t.Errorf("%s was confirmed: %v", id, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(may)) {
		if _, err := store.Get(t.Context(), id); found[id] != (err == nil) ||
			err != nil && !errors.Is(err, audit.ErrNotFound) {
			t.Errorf("%s: listed %v, get says %v", id, found[id], err)
		}
	}
	verifiedAfter(t, store, settled)
}
