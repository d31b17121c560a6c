package s3records_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

// putting is a plan that damages the first n puts of records.
func putting(n int, what damage) func(*http.Request, int) damage {
	return func(r *http.Request, _ int) damage {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/executions/") && n > 0 {
			n--
			return what
		}
		return pass
	}
}

// Whatever happens to a request in transit, the record is stored once, and its chain is valid.
func TestOneDamagedExchange(t *testing.T) {
	for name, what := range map[string]damage{
		"dropped": drop, "answer lost": reset, "stalled": stall, "slow": trickle, "503": busy, "clock skew": skew,
		"garbled": garbled,
	} {
		t.Run(name, func(t *testing.T) {
			p, bucket := newProxy(t), newBucket(t)
			cfg := s3records.Config{Bucket: bucket, Endpoint: p.URL, Spool: t.TempDir()}
			if what == stall {
				cfg.AttemptTimeout = 2 * time.Second
			}
			s := opened(t, cfg)
			for n := range 3 { // a good exchange between two damaged ones
				if n%2 == 0 {
					p.set(putting(1, what))
				}
				r := recordstest.Sample(time.Now())
				if err := s.Append(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				if got, err := s.Get(t.Context(), r.ID); err != nil || got.Engine != "quickjs" {
					t.Errorf("get: %v %q", err, got.Engine)
				}
				if err := s.Append(t.Context(), r); !errors.Is(err, audit.ErrExists) {
					t.Errorf("again: %v", err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			direct := opened(t, s3records.Config{Bucket: bucket})
			sound(t, direct, 3)
		})
	}
}

// While S3 is unavailable, records go to the spool. They arrive in S3 later, whichever process sends them.
func TestSpool(t *testing.T) {
	p, bucket, dir := newProxy(t), newBucket(t), t.TempDir()
	away := func(*http.Request, int) damage { return drop }
	cfg := s3records.Config{Bucket: bucket, Endpoint: p.URL, Spool: dir, Attempts: 2,
		AttemptTimeout: 2 * time.Second} // the first store waits as long for S3 when it closes
	p.set(away)
	s := opened(t, cfg)
	var ids []string
	add := func(s *s3records.Store, n int) {
		t.Helper()
		for range n {
			r := recordstest.Sample(time.Now())
			if err := s.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if err := s.Append(t.Context(), r); !errors.Is(err, audit.ErrExists) {
				t.Errorf("the spool took an id twice: %v", err)
			}
			if _, err := s.Get(t.Context(), r.ID); err != nil {
				t.Errorf("get what is spooled: %v", err)
			}
			ids = append(ids, r.ID)
		}
	}
	add(s, 3)
	if err := s.Close(); err != nil { // nothing leaves the spool
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.json")); err != nil || len(left) != 3 {
		t.Fatalf("spooled: %v %v", left, err)
	}
	second := opened(t, cfg) // as after a kill: another process finds the spool
	add(second, 2)
	p.set(nil)
	drained(t, dir)
	add(second, 1)
	drained(t, dir)
	sound(t, second, 6)
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	direct := opened(t, s3records.Config{Bucket: bucket})
	sound(t, direct, 6)
	for _, id := range ids {
		if _, err := direct.Get(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left in the spool: %v %v", left, err)
	}
}

// drained waits until every spooled line is in S3.
func drained(t *testing.T, dir string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		left, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("still spooled: %v", left)
		}
	}
}

func TestSpoolIsBounded(t *testing.T) {
	p, spool := newProxy(t), t.TempDir()
	s := opened(t, s3records.Config{
		Bucket: newBucket(t), Endpoint: p.URL, Spool: spool, SpoolBytes: 2500, Attempts: 1,
	})
	p.set(func(*http.Request, int) damage { return drop })
	var kept []audit.Record
	var refused audit.Record
	for {
		r := recordstest.Sample(time.Now())
		err := s.Append(t.Context(), r)
		if errors.Is(err, s3records.ErrSpoolFull) {
			refused = r
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, r)
	}
	if len(kept) == 0 || len(kept) > 4 {
		t.Errorf("%d records in 2,500 bytes", len(kept))
	}
	p.set(nil)
	drained(t, spool)
	if err := s.Append(t.Context(), refused); err != nil {
		t.Errorf("with room again: %v", err)
	}
	sound(t, s, int64(len(kept)+1))
}

// A spooled record whose id somebody else stored meanwhile is kept beside the other.
func TestSpoolConflict(t *testing.T) {
	p, bucket, dir := newProxy(t), newBucket(t), t.TempDir()
	s := opened(t, s3records.Config{Bucket: bucket, Endpoint: p.URL, Spool: dir, Attempts: 1})
	other := opened(t, s3records.Config{Bucket: bucket})
	p.set(func(*http.Request, int) damage { return drop })
	r := recordstest.Sample(time.Now())
	if err := s.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	theirs := r
	theirs.Status = "timeout"
	if err := other.Append(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	p.set(nil)
	drained(t, dir)
	if err := s.Append(t.Context(), recordstest.Sample(time.Now())); err != nil {
		t.Fatal(err)
	}
	drained(t, dir) // on a busy machine an attempt takes longer than the store waits for it
	got, err := other.Get(t.Context(), r.ID)
	if err != nil || got.Status != "timeout" {
		t.Errorf("the first record was replaced: %v %q", err, got.Status)
	}
	sound(t, other, 3)
}

// Without a spool a record without an answer fails and may be tried again. The next record waits until it is known
// whether the first was stored.
func TestDoubt(t *testing.T) {
	for name, arrived := range map[string]bool{"it arrived": true, "it did not": false} {
		t.Run(name, func(t *testing.T) {
			p, bucket := newProxy(t), newBucket(t)
			s := opened(t, s3records.Config{Bucket: bucket, Endpoint: p.URL, Attempts: 2})
			what := drop
			if arrived {
				what = reset
			}
			first, second := recordstest.Sample(time.Now()), recordstest.Sample(time.Now())
			p.set(func(*http.Request, int) damage { return what })
			if err := s.Append(t.Context(), first); err == nil || errors.Is(err, audit.ErrExists) {
				t.Fatalf("unanswered: %v", err)
			}
			if err := s.Append(t.Context(), second); err == nil {
				t.Fatal("the next record overtook the uncertain one")
			}
			p.set(nil)
			for _, r := range []audit.Record{first, second} {
				if err := s.Append(t.Context(), r); err != nil {
					t.Errorf("tried again: %v", err)
				}
				if err := s.Append(t.Context(), r); !errors.Is(err, audit.ErrExists) {
					t.Errorf("once more: %v", err)
				}
			}
			sound(t, s, 2)
		})
	}
}

// A role that may write and not read, as the function's on AWS, learns of a taken id at once. After a lost answer it
// cannot know; it logs that once and continues with a chain of its own.
func TestWriteOnlyRole(t *testing.T) {
	p, bucket := newProxy(t), newBucket(t)
	lose := 0
	p.set(func(r *http.Request, _ int) damage {
		switch {
		case r.Method != http.MethodPut:
			return forbid
		case strings.Contains(r.URL.Path, "/executions/") && lose > 0:
			lose--
			return reset
		}
		return pass
	})
	s := opened(t, s3records.Config{Bucket: bucket, Endpoint: p.URL, Attempts: 2})
	records := []audit.Record{recordstest.Sample(time.Now()), recordstest.Sample(time.Now()),
		recordstest.Sample(time.Now())}
	if err := s.Append(t.Context(), records[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), records[0]); !errors.Is(err, audit.ErrExists) {
		t.Errorf("a taken id: %v", err)
	}
	p.mu.Lock()
	lose = 1
	p.mu.Unlock()
	if err := s.Append(t.Context(), records[1]); err == nil || errors.Is(err, audit.ErrExists) ||
		!strings.Contains(err.Error(), "s3:GetObject") {
		t.Errorf("a lost answer: %v", err)
	}
	if err := s.Append(t.Context(), records[2]); err != nil {
		t.Errorf("the record after: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	direct := opened(t, s3records.Config{Bucket: bucket})
	sound(t, direct, 3)
}

func TestOpenRefuses(t *testing.T) {
	bucket := newBucket(t)
	for name, cfg := range map[string]s3records.Config{
		"no bucket":        {},
		"unknown bucket":   {Bucket: "not-" + bucket, Spool: t.TempDir()},
		"nobody there":     {Bucket: bucket, Endpoint: "http://127.0.0.1:1", Attempts: 1},
		"no URL":           {Bucket: bucket, Endpoint: "127.0.0.1:9000"},
		"lock without end": {Bucket: bucket, Lock: "COMPLIANCE"},
		"unknown lock":     {Bucket: bucket, Lock: "SOMETIMES", Retain: time.Hour},
		"unknown class":    {Bucket: bucket, StorageClass: "CHEAP"},
		"short key":        {Bucket: bucket, Key: []byte("short")},
		"file as spool":    {Bucket: bucket, Spool: os.DevNull},
	} {
		if cfg.Endpoint == "" {
			cfg.Endpoint = endpoint
		}
		cfg.AttemptTimeout = 200 * time.Millisecond
		if s, err := s3records.Open(t.Context(), cfg); err == nil {
			t.Errorf("%s: opened", name)
			_ = s.Close()
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
