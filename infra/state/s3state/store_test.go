package s3state_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/s3state"
)

var server *s3test.Server

func TestMain(m *testing.M) {
	s3test.SetEnvironment()
	server = s3test.MustStart()
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// open returns the state in a bucket as two gateways have it.
func open(t *testing.T, bucket string) (one, other *s3state.Store) {
	t.Helper()
	for _, s := range []**s3state.Store{&one, &other} {
		var err error
		*s, err = s3state.Open(t.Context(), "s3://"+bucket+"/state",
			s3state.Config{Access: s3objects.Access{Endpoint: server.Endpoint}, Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
	}
	return one, other
}

// add makes the next version of a function.
func add(code string) func(*execution.SavedFunction) (*execution.FunctionContent, error) {
	return func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		f.Versions = append(f.Versions, execution.FunctionVersion{Version: len(f.Versions) + 1})
		return &execution.FunctionContent{Request: execution.Request{Code: code}}, nil
	}
}

func TestFunctions(t *testing.T) {
	bucket := server.Bucket(t)
	one, other := open(t, bucket)
	ctx := t.Context()
	if err := one.Ready(ctx); err != nil {
		t.Error(err)
	}
	if _, err := one.Function(ctx, "a", "f"); !errors.Is(err, execution.ErrNotFound) {
		t.Error(err)
	}
	var all sync.WaitGroup
	for n := range 12 { // every change is made on what the one before left, whichever gateway makes it
		all.Go(func() {
			if err := []*s3state.Store{one, other}[n%2].Change(ctx, "a", "f", add(fmt.Sprint("code of ", n))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f, err := other.Function(ctx, "a", "f")
	if err != nil || len(f.Versions) != 12 || f.Tenant != "a" || f.Name != "f" {
		t.Fatalf("%+v %v", f, err)
	}
	seen := map[string]bool{}
	for _, v := range f.Versions {
		c, err := one.Content(ctx, "a", "f", v.Version)
		if err != nil {
			t.Fatal(err)
		}
		seen[c.Request.Code] = true
	}
	if len(seen) != 12 {
		t.Errorf("the versions hold %v", seen)
	}
	own := errors.New("mine")
	err = one.Change(ctx, "a", "f", func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		f.Versions = nil
		return nil, own
	})
	if f, _ := one.Function(ctx, "a", "f"); !errors.Is(err, own) || len(f.Versions) != 12 {
		t.Errorf("%v, %d versions", err, len(f.Versions))
	}
	for _, none := range [][2]string{{"b", "f"}, {"a", "g"}, {"", "f"}} {
		if _, err := one.Function(ctx, none[0], none[1]); !errors.Is(err, execution.ErrNotFound) {
			t.Errorf("%q: %v", none, err)
		}
	}
	if _, err := one.Content(ctx, "a", "f", 13); !errors.Is(err, execution.ErrNotFound) {
		t.Error(err)
	}
	if err := one.Delete(ctx, "a", "f"); err != nil {
		t.Fatal(err)
	}
	if err := other.Delete(ctx, "a", "f"); !errors.Is(err, execution.ErrNotFound) {
		t.Error(err)
	}
	if left := keys(t, bucket); len(left) != 0 {
		t.Errorf("what is left: %q", left)
	}
}

func keys(t *testing.T, bucket string) (out []string) {
	t.Helper()
	page, err := server.Client(t).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range page.Contents {
		out = append(out, aws.ToString(o.Key))
	}
	return out
}

func TestFunctionsInOrder(t *testing.T) {
	one, _ := open(t, server.Bucket(t))
	names := []string{"A", "a", "a-b", "a.b", "a_b", "ab", "b"} // in the order of their bytes
	for _, tenant := range []string{"", "acme"} {
		for i := range names {
			if err := one.Change(t.Context(), tenant, names[len(names)-1-i], add("1")); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for after := ""; ; {
			page, err := one.Functions(t.Context(), tenant, after, 2)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, f := range page {
				got = append(got, f.Name)
			}
			after = got[len(got)-1]
		}
		if strings.Join(got, " ") != strings.Join(names, " ") {
			t.Errorf("tenant %q: %q", tenant, got)
		}
	}
}

// A version runs the code that was saved, or is an error: write access to the bucket does not allow other code.
func TestAlteredContent(t *testing.T) {
	bucket := server.Bucket(t)
	one, _ := open(t, bucket)
	if err := one.Change(t.Context(), "a", "f", add("good()")); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys(t, bucket) {
		if strings.Contains(key, "/contents/") {
			if _, err := server.Client(t).PutObject(t.Context(),
				&s3.PutObjectInput{Bucket: &bucket, Key: &key,
					Body: strings.NewReader(`{"request":{"code":"evil()"}}`)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c, err := one.Content(t.Context(), "a", "f", 1); err == nil ||
		!strings.Contains(err.Error(), "differs from what was saved") {
		t.Errorf("%v %v", c.Request.Code, err)
	}
}

func TestNotKept(t *testing.T) {
	bucket := server.Bucket(t)
	one, err := s3state.Open(t.Context(), "s3://"+bucket+"/state",
		s3state.Config{Access: s3objects.Access{Endpoint: server.Endpoint}, NoJobs: true})
	if err != nil {
		t.Fatal(err)
	}
	err = one.Change(t.Context(), "a", "f", func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		f.Schedule = &execution.FunctionSchedule{Cron: "* * * * *"}
		return add("1")(f)
	})
	if !errors.Is(err, execution.ErrNotKept) ||
		!errors.Is(one.Submit(t.Context(), execution.Job{}), execution.ErrNotKept) {
		t.Errorf("a schedule: %v", err)
	}
	for _, name := range []string{"", "../f", "a/b", "a b", ".f", strings.Repeat("x", 65), "a\x00"} {
		if err := one.Change(t.Context(), "a", name, add("1")); err == nil {
			t.Errorf("%q was saved", name)
		}
		if err := one.KeepEvent(t.Context(), "a", name, "exec_01JD0000000000000000000000", nil, time.Now()); err == nil {
			t.Errorf("an event of %q was kept", name)
		}
	}
	if got := keys(t, bucket); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestDeliveries(t *testing.T) {
	one, other := open(t, server.Bucket(t))
	ctx, now := t.Context(), time.Now()
	until := now.Add(time.Hour)
	var winners atomic.Int32
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			begun, _, answer, err := []*s3state.Store{one, other}[n%2].Begin(ctx, execution.Key{Name: "k\x00/.."}, "mark", now,
				until)
			if err != nil || answer != nil {
				t.Error(err, answer)
			}
			if begun {
				winners.Add(1)
			}
		})
	}
	all.Wait()
	if winners.Load() != 1 {
		t.Fatalf("%d gateways took one key", winners.Load())
	}
	if begun, mark, answer, err := other.Begin(ctx, execution.Key{Name: "k\x00/.."}, "another", now, until); begun ||
		mark != "mark" || answer != nil || err != nil {
		t.Errorf("%v %q %q %v", begun, mark, answer, err)
	}
	if err := one.Finish(ctx, "k\x00/..", []byte("answer")); err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Time{now, now.Add(59 * time.Minute)} {
		if begun, mark, answer, err := other.Begin(ctx, execution.Key{Name: "k\x00/.."}, "mark", at, until); begun ||
			mark != "mark" || string(answer) != "answer" || err != nil {
			t.Errorf("%v %q %q %v", begun, mark, answer, err)
		}
	}
	if err := other.Abandon(ctx, "k\x00/.."); err != nil {
		t.Error(err)
	}
	if begun, _, answer, err := one.Begin(ctx, execution.Key{Name: "k\x00/.."}, "mark", now, until); begun ||
		string(answer) != "answer" || err != nil {
		t.Errorf("what was answered was given back: %v %q %v", begun, answer, err)
	}
	if begun, mark, _, err := one.Begin(ctx, execution.Key{Name: "k\x00/.."}, "new", until,
		until.Add(time.Hour)); !begun || mark != "new" || err != nil {
		t.Errorf("after its time: %v %q %v", begun, mark, err)
	}
	// Nobody answers: the key is taken again, with the first mark, when the lease is over.
	for _, c := range []struct {
		after time.Duration
		begun bool
	}{{0, true}, {59 * time.Second, false}, {61 * time.Second, true}, {62 * time.Second, false}} {
		if begun, mark, _, err := other.Begin(ctx, execution.Key{Name: "dead"}, "first", now.Add(c.after),
			until); begun != c.begun || mark != "first" || err != nil {
			t.Errorf("after %v: %v %q %v", c.after, begun, mark, err)
		}
	}
	if err := one.Abandon(ctx, "dead"); err != nil {
		t.Fatal(err)
	}
	if begun, mark, _, err := other.Begin(ctx, execution.Key{Name: "dead"}, "second", now, until); !begun ||
		mark != "second" || err != nil {
		t.Errorf("given back: %v %q %v", begun, mark, err)
	}
	if err := one.Finish(ctx, "never begun", nil); !errors.Is(err, execution.ErrNotFound) {
		t.Error(err)
	}
	// An empty answer is an answer.
	if _, _, _, err := one.Begin(ctx, execution.Key{Name: "e"}, "m", now, until); err != nil ||
		one.Finish(ctx, "e", nil) != nil {
		t.Fatal(err)
	}
	if begun, _, answer, err := one.Begin(ctx, execution.Key{Name: "e"}, "m", now, until); begun || answer == nil ||
		err != nil {
		t.Errorf("%v %v %v", begun, answer, err)
	}
}

func TestEvents(t *testing.T) {
	one, other := open(t, server.Bucket(t))
	const id = "exec_01JD0000000000000000000000"
	if err := one.KeepEvent(t.Context(), "a", "f", id, []byte("event \xff"), time.Now()); err != nil {
		t.Fatal(err)
	}
	if event, err := other.Event(t.Context(), "a", "f", id); string(event) != "event \xff" || err != nil {
		t.Errorf("%q %v", event, err)
	}
	for _, none := range [][3]string{{"b", "f", id}, {"a", "g", id}, {"a", "f", "exec_01JD0000000000000000000001"},
		{"a", "f", "../x"}} {
		if _, err := one.Event(t.Context(), none[0], none[1], none[2]); !errors.Is(err, execution.ErrNotFound) {
			t.Errorf("%q: %v", none, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, url := range []string{"", "state", "file:///tmp", "s3://"} {
		if _, err := s3state.Open(context.Background(), url, s3state.Config{}); err == nil {
			t.Errorf("%q was opened", url)
		}
	}
}

// A tenant saves functions up to its quota, deletes some and saves more; no quota binds another tenant.
func TestFunctionsQuota(t *testing.T) {
	bucket := server.Bucket(t)
	s, err := s3state.Open(t.Context(), "s3://"+bucket+"/state", s3state.Config{
		Access: s3objects.Access{Endpoint: server.Endpoint},
		Storage: func(tenant string) execution.Storage {
			return map[string]execution.Storage{"a": {Functions: 100 << 10}}[tenant]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	save := func(tenant, name, text string) error {
		return s.Change(t.Context(), tenant, name, add(strings.Repeat(text, 40<<10)))
	}
	for _, name := range []string{"f", "g"} {
		if err := save("a", name, "1"); err != nil {
			t.Fatal(err)
		}
	}
	var refused *execution.QuotaError
	if err := save("a", "f", "2"); !errors.As(err, &refused) || refused.Quota != execution.QuotaFunctions ||
		refused.Limit != 100<<10 || refused.Used < 80<<10 {
		t.Fatalf("the third version: %v", err)
	}
	if f, err := s.Function(t.Context(), "a", "f"); err != nil || len(f.Versions) != 1 {
		t.Errorf("after a refusal: %+v, %v", f, err)
	}
	if err := save("b", "f", "2"); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	if err := s.Delete(t.Context(), "a", "g"); err != nil {
		t.Fatal(err)
	}
	if err := save("a", "f", "2"); err != nil {
		t.Errorf("after a deletion: %v", err)
	}
}
