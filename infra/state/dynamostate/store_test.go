package dynamostate_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
)

func TestParse(t *testing.T) {
	t.Parallel()
	table, contents, err := dynamostate.Parse("dynamodb://airlock?contents=s3://bucket/state")
	if err != nil || table != "airlock" || contents != "s3://bucket/state" {
		t.Errorf("%q %q %v", table, contents, err)
	}
	for _, url := range []string{
		"dynamodb://", "dynamodb://airlock", "dynamodb://airlock/x?contents=s3://b/p", "dynamodb://a?contents=b",
		"dynamodb://a?contents=s3:///p", "dynamodb://a?contents=s3://b/p&region=x", "dynamodb://u:p@a?contents=s3://b/p",
		"s3://b/p",
	} {
		if _, _, err := dynamostate.Parse(url); err == nil {
			t.Errorf("%s is accepted", url)
		}
	}
}

// objects returns the number of objects in the bucket of a fleet.
func objects(t *testing.T, f *fleet) int {
	t.Helper()
	_, contents, err := dynamostate.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(contents, "s3://"), "/")
	out, err := bucket.Client(t).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &name})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Contents)
}

// Contents above the limit of an item are objects, which are deleted with it.
func TestLargeContents(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s, now := f.open(t, server.Endpoint, 4), f.Now()
	large := strings.Repeat("x", 600_000)
	job := execution.Job{ID: "exec_0000000001", Tenant: "t", Status: execution.Queued,
		Request: execution.Request{Code: large}}
	for range 2 { // the second changes nothing and leaves nothing
		if err := s.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	claimed, err := s.Claim(t.Context(), now, "", nil)
	if err != nil || claimed.Request.Code != large {
		t.Fatalf("%d bytes, %v", len(claimed.Request.Code), err)
	}
	result, err := json.Marshal(large)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.ChangeJob(t.Context(), job.ID, func(j *execution.Job) error {
			j.Status, j.Owner, j.EndedAt, j.Result = execution.Completed, "", now, result
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Job(t.Context(), job.ID); err != nil || !bytes.Equal(got.Result, result) || got.Request.Code != "" {
		t.Errorf("%d bytes, %v", len(got.Result), err)
	}
	if n := objects(t, f); n != 1 {
		t.Errorf("%d objects, want that of the result", n)
	}
	name := func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		f.Versions = append(f.Versions, execution.FunctionVersion{Version: len(f.Versions) + 1})
		return &execution.FunctionContent{Request: execution.Request{Code: large}}, nil
	}
	for range 2 { // both have the same content
		if err := s.Change(t.Context(), "t", "f", name); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := s.Content(t.Context(), "t", "f", 2); err != nil || c.Request.Code != large {
		t.Errorf("%d bytes, %v", len(c.Request.Code), err)
	}
	if err := s.KeepEvent(t.Context(), "t", "f", job.ID, result, now); err != nil {
		t.Fatal(err)
	}
	if event, err := s.Event(t.Context(), "t", "f", job.ID); err != nil || !bytes.Equal(event, result) {
		t.Errorf("%d bytes, %v", len(event), err)
	}
	if err := errors.Join(s.Delete(t.Context(), "t", "f"), s.Prune(t.Context(), now, now.Add(time.Minute))); err != nil {
		t.Fatal(err)
	}
	if n := objects(t, f); n != 0 {
		t.Errorf("%d objects are left", n)
	}
}

// A key belongs to the process that took it while that lives, and keeps its mark and its answer.
func TestKeys(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	a, b := f.open(t, server.Endpoint, 4), f.open(t, server.Endpoint, 4)
	begin := func(s *dynamostate.Store, name, mark string) (bool, string, string) {
		t.Helper()
		begun, first, answer, err := s.Begin(t.Context(), execution.Key{Quota: execution.QuotaKeys, Tenant: "t", Name: name},
			mark, f.Now(), f.Now().Add(12*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return begun, first, string(answer)
	}
	for n, step := range []struct {
		do           func() error
		s            *dynamostate.Store
		name, mark   string
		begun        bool
		first, reply string
	}{
		{nil, a, "x", "1", true, "1", ""},
		{nil, b, "x", "2", false, "1", ""},
		{func() error { return a.Finish(t.Context(), "x", []byte("done")) }, b, "x", "2", false, "1", "done"},
		{func() error { return a.Abandon(t.Context(), "x") }, b, "x", "2", false, "1", "done"},
		{nil, a, "y", "1", true, "1", ""},
		{func() error { return a.Abandon(t.Context(), "y") }, b, "y", "2", true, "2", ""},
		{nil, a, "z", "1", true, "1", ""},
		{func() error { f.Kill(t, a); return nil }, b, "z", "2", true, "1", ""},
	} {
		if step.do != nil {
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
		}
		begun, first, answer := begin(step.s, step.name, step.mark)
		if begun != step.begun || first != step.first || answer != step.reply {
			t.Errorf("step %d: begun %v, mark %q, answer %q", n, begun, first, answer)
		}
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := f.open(t, server.Endpoint, 4)
	for _, at := range [][2]string{{"a", "x"}, {"a", "y"}, {"", "z"}, {"b", "y"}} {
		err := s.Change(t.Context(), at[0], at[1], func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
			f.Schedule = &execution.FunctionSchedule{Cron: "* * * * *", Next: time.Now()}
			return nil, nil //nolint:nilnil // no new content
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	names := func(list []execution.SavedFunction, err error) (out string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			out += f.Tenant + "/" + f.Name + " "
		}
		return out
	}
	ctx := t.Context()
	for want, got := range map[string]string{
		"a/x a/y ":    names(s.Functions(ctx, "a", "", 5)),
		"a/y ":        names(s.Functions(ctx, "a", "x", 5)),
		"a/x ":        names(s.Functions(ctx, "a", "", 1)),
		"/z a/x a/y ": names(s.Scheduled(ctx, "", "", 3)),
		"b/y ":        names(s.Scheduled(ctx, "a", "y", 3)),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A table that cannot be reached is a fault of the store.
func TestTableIsGone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := f.open(t, server.Endpoint, 4)
	table, _, err := dynamostate.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Client().DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	delete(f.live, s) // it has no heartbeat to delete
	f.mu.Unlock()
	s.Die()
	for n, err := range []error{
		s.Submit(t.Context(), execution.Job{ID: "exec_0000000001", Status: execution.Queued}), s.Ready(t.Context()),
	} {
		var fault *execution.StoreError
		if !errors.As(err, &fault) || fault.Fault != execution.StoreLost {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// Documents are replaced by compare-and-swap.
func TestDocuments(t *testing.T) {
	t.Parallel()
	f, ctx := newFleet(t), t.Context()
	d, err := dynamostate.OpenDocuments(ctx, f.url, dynamostate.Access{Endpoint: server.Endpoint,
		Objects: s3objects.Access{Endpoint: bucket.Endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Get(ctx, "x", 100); !errors.Is(err, s3objects.ErrMissing) {
		t.Error(err)
	}
	first, err := d.Create(ctx, "x", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Create(ctx, "x", []byte("2")); !errors.Is(err, s3objects.ErrChanged) {
		t.Error(err)
	}
	second, err := d.Replace(ctx, "x", bytes.Repeat([]byte("2"), 20_000), first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Replace(ctx, "x", []byte("3"), first); !errors.Is(err, s3objects.ErrChanged) {
		t.Error(err)
	}
	if body, tag, err := d.Get(ctx, "x", 20_000); err != nil || tag != second || len(body) != 20_000 {
		t.Errorf("%d bytes, %q, %v", len(body), tag, err)
	}
	if _, _, err := d.Get(ctx, "x", 100); err == nil {
		t.Error("a document that is too large is read")
	}
}

// Callbacks of one tenant do not hold up those of another.
func TestCallbacksAreFair(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s, now := f.open(t, server.Endpoint, 4), f.Now()
	for n := range 12 {
		tenant := "loud"
		if n == 11 {
			tenant = "quiet"
		}
		job := execution.Job{ID: fmt.Sprintf("exec_%010d", n), Tenant: tenant, Status: execution.Queued,
			Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}}
		if err := s.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ChangeJob(t.Context(), job.ID, func(j *execution.Job) error {
			j.Status, j.EndedAt = execution.Completed, now
			j.Callback.State, j.Callback.Next = execution.CallbackPending, now.Add(time.Duration(n-20)*time.Second)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	due, err := s.Callbacks(t.Context(), now, now.Add(time.Minute), 4)
	quiet := 0
	for _, job := range due {
		if job.Tenant == "quiet" {
			quiet++
		}
	}
	if err != nil || len(due) != 4 || quiet != 1 {
		t.Errorf("%d callbacks, %d of the quiet tenant, %v", len(due), quiet, err)
	}
}

// A tenant saves functions up to its quota, deletes some and saves more; no quota binds another tenant.
func TestFunctionsQuota(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s, err := dynamostate.Open(t.Context(), f.url, dynamostate.Config{
		Access: dynamostate.Access{Endpoint: server.Endpoint, Objects: s3objects.Access{Endpoint: bucket.Endpoint}},
		Storage: func(tenant string) execution.Storage {
			return map[string]execution.Storage{"a": {Functions: 100 << 10}}[tenant]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	save := func(tenant, name, text string) error {
		return s.Change(t.Context(), tenant, name, func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
			f.Versions = append(f.Versions, execution.FunctionVersion{Version: len(f.Versions) + 1})
			return &execution.FunctionContent{Request: execution.Request{Code: strings.Repeat(text, 40<<10)}}, nil
		})
	}
	for _, name := range []string{"f", "g"} {
		if err := save("a", name, "1"); err != nil {
			t.Fatal(err)
		}
	}
	var refused *execution.QuotaError
	if err := save("a", "f", "2"); !errors.As(err, &refused) || refused.Quota != execution.QuotaFunctions {
		t.Fatalf("the third version: %v", err)
	}
	if refused.Limit != 100<<10 || refused.Used < 80<<10 {
		t.Fatalf("the third version: %d of %d bytes are used", refused.Used, refused.Limit)
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

// An object whose bytes somebody has changed is not the content of a version, however it was named.
func TestChangedObjects(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := f.open(t, server.Endpoint, 4)
	_, url, err := dynamostate.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	contents, err := s3objects.Open(t.Context(), url, bucket.Access())
	if err != nil {
		t.Fatal(err)
	}
	r := execution.Request{Code: strings.Repeat("x", 2<<20)}
	for name, sum := range map[string]string{"hashed": "", "by-sources": r.Sources().Sum()} {
		err := s.Change(t.Context(), "t", name, func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
			f.Versions = append(f.Versions, execution.FunctionVersion{Version: 1})
			return &execution.FunctionContent{Request: r, Sum: sum}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if c, err := s.Content(t.Context(), "t", name, 1); err != nil || c.Request.Code != r.Code || c.Sum != sum {
			t.Errorf("%s: %d bytes of code, %v", name, len(c.Request.Code), err)
		}
		keys, err := contents.List(t.Context(), "functions/t"+hex.EncodeToString([]byte("t"))+"/"+name+"/", "", 10)
		if err != nil || len(keys) != 1 {
			t.Fatalf("%s: the objects %q, %v", name, keys, err)
		}
		body, tag, err := contents.Get(t.Context(), keys[0], 4<<20)
		if err != nil {
			t.Fatal(err)
		}
		body[len(body)-1] = 'y'
		if _, err := contents.Replace(t.Context(), keys[0], body, tag); err != nil {
			t.Fatal(err)
		}
		fault := (*execution.StoreError)(nil)
		if c, err := s.Content(t.Context(), "t", name, 1); !errors.As(err, &fault) ||
			fault.Fault != execution.StoreCorrupt {
			t.Errorf("%s: changed, it is a version with %d bytes of code, %v", name, len(c.Request.Code), err)
		}
	}
}
