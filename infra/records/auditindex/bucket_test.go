package auditindex_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/infra/records/auditindex"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/policy/audit"
)

var (
	_ auditindex.Bucket = (*s3records.Store)(nil)

	// started returns the S3 server of the tests, which runs from when it is first needed.
	started = sync.OnceValues(s3test.Start)
	needed  atomic.Bool
)

func TestMain(m *testing.M) {
	s3test.SetEnvironment()
	code := m.Run()
	if needed.Load() {
		if server, err := started(); err == nil {
			server.Stop()
		}
	}
	os.Exit(code)
}

// clock is a time that tests move.
type clock struct{ at atomic.Int64 }

func (c *clock) set(t time.Time) { c.at.Store(t.UnixNano()) }
func (c *clock) now() time.Time  { return time.Unix(0, c.at.Load()) }

func bucket(t *testing.T) (*s3records.Store, *s3.Client, string) {
	t.Helper()
	needed.Store(true)
	server, err := started()
	if err != nil {
		t.Fatal(err)
	}
	name := server.Bucket(t)
	s, err := s3records.Open(t.Context(), s3records.Config{Bucket: name, Prefix: "audit/here", Endpoint: server.Endpoint})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, server.Client(t), name
}

func follow(t *testing.T, dir string, s audit.Store, at *clock) *auditindex.Index {
	t.Helper()
	x, err := auditindex.Open(t.Context(), dir, s, auditindex.Config{Patience: time.Minute, Batch: 7, Now: at.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func TestFollowsABucket(t *testing.T) {
	s, client, name := bucket(t)
	var at clock
	at.set(dawn.Add(60 * time.Hour)) // after all of them
	all := fill(t, s, 0, 80)
	folder := filepath.Join(t.TempDir(), "index")
	x := follow(t, folder, s, &at)
	check(t, x, all)
	checkSeries(t, x, all)

	// A new record is in the answer to the next query, even if it is a little late.
	for n := range 9 {
		r := recordstest.Sample(at.now().Add(-time.Duration(n*10) * time.Second))
		r.Usage.CPUMs = 1.125 // sums of it are exact
		if err := s.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
		page, err := x.List(t.Context(), audit.Query{Since: dawn.Add(59 * time.Hour)})
		if err != nil || len(page.Items) != n+1 {
			t.Fatalf("%v: %d records, want %d", err, len(page.Items), n+1)
		}
	}
	same(t, x, all)

	// A very late record appears after a while.
	late := sample(50)
	late.ID = recordstest.NewID(late.Time)
	if err := s.Append(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	all = append(all, late)
	until(t, x, &at, func(f audit.Summary) bool { return f.Records == int64(len(all)) })
	same(t, x, all)

	// A deleted record disappears after a while, and so does a deleted day.
	gone := all[len(all)-2]
	key := "audit/here/executions/dt=" + gone.Time.Format(time.DateOnly) + "/" + gone.ID + ".json"
	if _, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &name, Key: &key}); err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(r audit.Record) bool { return r.ID == gone.ID })
	until(t, x, &at, func(f audit.Summary) bool { return f.Records == int64(len(all)) })
	same(t, x, all)
	first := all[0].Time.Format(time.DateOnly)
	all = slices.DeleteFunc(all, func(r audit.Record) bool {
		if r.Time.Format(time.DateOnly) != first {
			return false
		}
		key := "audit/here/executions/dt=" + first + "/" + r.ID + ".json"
		_, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &name, Key: &key})
		return err == nil
	})
	until(t, x, &at, func(f audit.Summary) bool { return f.Records == int64(len(all)) })
	check(t, x, all)

	// A lost index is rebuilt, and so is the index of another bucket.
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	again := follow(t, folder, s, &at)
	same(t, again, all)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	other, _, _ := bucket(t)
	all = fill(t, other, 200, 230)
	same(t, follow(t, folder, other, &at), all)
}

// counted counts the reads of a bucket's objects and the listings of its names. From the second day on it waits until
// gate is closed.
type counted struct {
	*s3records.Store
	objects       atomic.Int64
	recent, whole atomic.Int64 // lists of recent names, and of days and their names
	days          atomic.Int64
	gate          chan struct{}
}

func (c *counted) Days(ctx context.Context) ([]string, error) {
	c.whole.Add(1)
	return c.Store.Days(ctx)
}

func (c *counted) Names(ctx context.Context, day string, since time.Time, fn func(names []string) error) error {
	c.whole.Add(1)
	return c.Store.Names(ctx, day, since, fn)
}

func (c *counted) Recent(ctx context.Context, since time.Time, fn func(day string, names []string) error) error {
	c.recent.Add(1)
	return c.Store.Recent(ctx, since, fn)
}

func (c *counted) Objects(ctx context.Context, day string, names []string,
	fn func(name string, line []byte) error) error {
	c.objects.Add(int64(len(names)))
	if len(names) > 0 && c.days.Add(1) > 1 {
		<-c.gate
	}
	return c.Store.Objects(ctx, day, names, fn)
}

// While the index of a bucket is being built, a summary covers the newest records, at once; afterwards all of them, and
// a page of new records reads no object.
func TestAnswersWhileABucketIsIndexed(t *testing.T) {
	s, _, _ := bucket(t)
	var at clock
	at.set(dawn.Add(60 * time.Hour))
	all := fill(t, s, 0, 60)
	store := &counted{Store: s, gate: make(chan struct{})}
	x, err := auditindex.Open(t.Context(), t.TempDir(), store,
		auditindex.Config{Now: at.now, Patience: time.Millisecond, Batch: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var sum audit.Summary
	for sum.Records == 0 && t.Context().Err() == nil {
		if sum, err = x.Summary(t.Context(), audit.Query{}); !errors.Is(err, audit.ErrBehind) {
			t.Fatalf("%+v, %v", sum, err)
		}
		runtime.Gosched()
	}
	if newest := all[len(all)-1].Time; sum.Records >= int64(len(all)) || newest.Sub(sum.Oldest) > 24*time.Hour {
		t.Errorf("%d records, the oldest of %s", sum.Records, sum.Oldest)
	}
	close(store.gate)
	for err != nil && t.Context().Err() == nil {
		if sum, err = x.Summary(t.Context(), audit.Query{}); err != nil && !errors.Is(err, audit.ErrBehind) {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	if sum.Records != int64(len(all)) {
		t.Errorf("%d records, want %d", sum.Records, len(all))
	}
	read := store.objects.Load()
	for err = audit.ErrBehind; errors.Is(err, audit.ErrBehind); {
		_, err = x.Summary(t.Context(), audit.Query{})
	}
	page, err := x.List(t.Context(), audit.Query{Limit: 50})
	if err != nil || len(page.Items) != 50 {
		t.Fatalf("%d records, %v", len(page.Items), err)
	}
	if again := store.objects.Load(); again != read {
		t.Errorf("a page read %d objects", again-read)
	}
}

// A page and a summary list the newest names alone, and read no object but those of new records, also those of another
// writer and of a new day.
func TestPageListsTheNewestNames(t *testing.T) {
	s, _, name := bucket(t)
	server, err := started()
	if err != nil {
		t.Fatal(err)
	}
	other, err := s3records.Open(t.Context(),
		s3records.Config{Bucket: name, Prefix: "audit/here", Endpoint: server.Endpoint})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var at clock
	at.set(dawn.Add(10 * time.Hour))
	fill(t, s, 0, 80) // on two days
	store := &counted{Store: s, gate: make(chan struct{})}
	close(store.gate)
	x := follow(t, t.TempDir(), store, &at)
	if _, err := x.List(t.Context(), audit.Query{}); err != nil {
		t.Fatal(err)
	}
	// The days and the names of both are listed once by the first query and once by what follows it in the background.
	for store.whole.Load() < 6 && t.Context().Err() == nil {
		runtime.Gosched()
	}
	for i, written := range []struct {
		by *s3records.Store
		at time.Time
	}{{nil, time.Time{}}, {s, at.now()}, {other, at.now().Add(-time.Minute)}, {other, at.now().Add(24 * time.Hour)}} {
		want := audit.Query{}
		objects := store.objects.Load()
		if written.by != nil {
			r := recordstest.Sample(written.at)
			r.Function = &audit.FunctionRef{Name: fmt.Sprint("f", i), Version: 1}
			if err := written.by.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			want.Function = r.Function.Name
			objects++
		}
		recent := store.recent.Load()
		page, err := x.List(t.Context(), want)
		if err != nil || len(page.Items) == 0 {
			t.Fatalf("%+v: %d records, %v", want, len(page.Items), err)
		}
		if _, err := x.Summary(t.Context(), audit.Query{}); err != nil {
			t.Fatal(err)
		}
		if n := store.recent.Load() - recent; n != 2 || store.whole.Load() != 6 || store.objects.Load() != objects {
			t.Errorf("%+v: %d lists, %d of whole days; %d objects were read, want %d", want, n, store.whole.Load(),
				store.objects.Load(), objects)
		}
	}
}

// same compares all of an index with records: a list and the summary.
func same(t *testing.T, x *auditindex.Index, all []audit.Record) {
	t.Helper()
	if got := walk(t, x, audit.Query{Limit: 500}); !slices.Equal(got, ids(selected(all, audit.Query{}))) {
		t.Errorf("%d records, want %d", len(got), len(all))
	}
	var sum audit.Summary
	for _, r := range all {
		sum.Add(audit.OutlineOf(r))
	}
	if got, err := x.Summary(t.Context(), audit.Query{}); err != nil || !reflect.DeepEqual(got, sum) {
		t.Errorf("%v\n%+v, want\n%+v", err, got, sum)
	}
}

// until advances the clock and asks until the summary of all records is right.
func until(t *testing.T, x *auditindex.Index, at *clock, right func(audit.Summary) bool) {
	t.Helper()
	for t.Context().Err() == nil {
		f, err := x.Summary(t.Context(), audit.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if right(f) {
			return
		}
		at.set(at.now().Add(time.Second))
	}
}

// Objects that are no records, and second copies of a record under another name, neither stop the index nor count.
func TestFollowsABucketWithOtherThings(t *testing.T) {
	s, client, name := bucket(t)
	var at clock
	at.set(dawn.Add(60 * time.Hour))
	all := fill(t, s, 0, 10)
	day := "audit/here/executions/dt=" + all[0].Time.Format(time.DateOnly) + "/"
	for key, body := range map[string]string{"readme.txt": "x", "exec_01ARZ3NDEKTSV4RRFFQ69G5FAV.json": "{",
		"zzz.json": "[]", "~.json": ""} {
		if _, err := client.PutObject(t.Context(),
			&s3.PutObjectInput{Bucket: &name, Key: new(day + key), Body: strings.NewReader(body)}); err != nil {
			t.Fatal(err)
		}
	}
	x := follow(t, t.TempDir(), s, &at)
	for range 3 {
		same(t, x, all)
		at.set(at.now().Add(time.Hour))
	}
}

// Two indexes in one folder count each record once.
func TestIndexOfABucketIsShared(t *testing.T) {
	s, _, _ := bucket(t)
	var at clock
	at.set(dawn.Add(60 * time.Hour))
	all := fill(t, s, 0, 60)
	folder := t.TempDir()
	var both sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		x := follow(t, folder, s, &at)
		both.Go(func() {
			f, err := x.Summary(context.WithoutCancel(t.Context()), audit.Query{})
			if err == nil && f.Records != int64(len(all)) {
				err = fmt.Errorf("%d records, want %d", f.Records, len(all))
			}
			errs[i] = err
		})
	}
	both.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	same(t, follow(t, folder, s, &at), all)
}
