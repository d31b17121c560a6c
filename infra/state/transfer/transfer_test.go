package transfer_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/dynamostate/dynamotest"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/infra/state/pgstate/pgtest"
	"github.com/airlock-run/airlock/infra/state/s3state"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/statetest"
	"github.com/airlock-run/airlock/infra/state/transfer"
)

var (
	bucket   *s3test.Server
	database *pgtest.Server
	tables   *dynamotest.Server
)

func TestMain(m *testing.M) {
	s3test.SetEnvironment()
	bucket = s3test.MustStart()
	var err error
	if database, err = pgtest.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if tables, err = dynamotest.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	bucket.Stop()
	if tables != nil {
		tables.Stop()
	}
	if database != nil {
		database.Stop()
	}
	os.Exit(code)
}

// store is what the tests need of a state.
type store interface {
	transfer.Store
	statetest.Store
	Begin(ctx context.Context, key execution.Key, mark string, now, until time.Time) (bool, string, []byte, error)
	Finish(ctx context.Context, key string, answer []byte) error
	KeepEvent(ctx context.Context, tenant, function, id string, event []byte, at time.Time) error
}

// kinds open a new state of each kind.
var kinds = map[string]func(t *testing.T) store{
	"folder": func(t *testing.T) store {
		s, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{})
		return opened(t, sqlitestate.Transfer{Store: s}, err)
	},
	"database": func(t *testing.T) store {
		if database == nil {
			t.Skip("Postgres is not installed")
		}
		s, err := pgstate.Open(t.Context(), database.Database(t), pgstate.Config{Settle: time.Nanosecond})
		return opened(t, pgstate.Transfer{Store: s}, err)
	},
	"table": func(t *testing.T) store {
		if tables == nil {
			t.Skip("dynalite is not installed")
		}
		url := "dynamodb://" + tables.Table(t) + "?contents=s3://" + bucket.Bucket(t) + "/state"
		s, err := dynamostate.Open(t.Context(), url, dynamostate.Config{Access: dynamostate.Access{Endpoint: tables.Endpoint,
			Objects: s3objects.Access{Endpoint: bucket.Endpoint}}})
		return opened(t, dynamostate.Transfer{Store: s}, err)
	},
}

func opened[S interface {
	store
	Close() error
}](t *testing.T, s S, err error) store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const queued, running, ended = "exec_0000000001", "exec_0000000002", "exec_0000000003"

// fill stores one thing of each kind.
func fill(t *testing.T, s store) {
	t.Helper()
	ctx, now := t.Context(), time.Now().Truncate(time.Millisecond).UTC()
	for n := range 2 {
		must(t, s.Change(ctx, "t", "f", func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
			f.Versions = append(f.Versions, execution.FunctionVersion{Version: n + 1})
			f.Schedule = &execution.FunctionSchedule{Cron: "* * * * *", Next: now.Add(time.Hour)}
			return &execution.FunctionContent{Request: execution.Request{Code: fmt.Sprint(n)}}, nil
		}))
	}
	for _, id := range []string{ended, running, queued} {
		job := execution.Job{ID: id, Tenant: "t", Subject: "s", Status: execution.Queued, ReceivedAt: now,
			Request:  execution.Request{Code: id, Priority: "high"},
			Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}}
		must(t, s.Submit(ctx, job))
		if id == queued {
			break
		}
		claimed, err := s.Claim(ctx, time.Now(), "", nil)
		must(t, err)
		if claimed.ID == ended {
			_, err = s.ChangeJob(ctx, ended, func(j *execution.Job) error {
				j.Status, j.Owner, j.EndedAt, j.Result = execution.Completed, "", now, []byte(`{"result":1}`)
				j.Callback.State, j.Callback.Next = execution.CallbackPending, now
				return nil
			})
			must(t, err)
		}
	}
	for n, name := range []string{"answered", "open"} {
		_, _, _, err := s.Begin(ctx, execution.Key{Quota: execution.QuotaDeliveries, Tenant: "t", Subject: "s", Name: name},
			"mark", now, now.Add(time.Hour))
		must(t, err)
		if n == 0 {
			must(t, s.Finish(ctx, name, []byte("answer")))
		}
	}
	must(t, s.KeepEvent(ctx, "t", "f", ended, bytes.Repeat([]byte("event"), 100_000), now))
	_, err := s.Gone(ctx, "t", "http://gone", now, now.Add(time.Hour))
	must(t, err)
	must(t, s.Import(ctx, transfer.Item{Document: &transfer.Document{Name: "anchors/1.json", Body: []byte("{}")}}))
}

// content returns the content of a state, without the details that differ between kinds of stores.
func content(t *testing.T, s transfer.Store) []transfer.Item {
	t.Helper()
	var out []transfer.Item
	must(t, s.Export(t.Context(), func(i transfer.Item) error {
		switch {
		case i.Job != nil:
			i.Job.Owner, i.Job.StartedAt = "", time.Time{}
			if string(i.Job.Result) != "" {
				i.Job.Request = execution.Request{} // some keep the request of a job that has ended
			}
		case i.Event != nil:
			i.Event.At = time.Time{}
		case i.Key != nil:
			i.Key.Until = i.Key.Until.UTC()
		case i.Gone != nil:
			i.Gone.Until = i.Gone.Until.UTC()
		}
		out = append(out, i)
		return nil
	}))
	name := func(i transfer.Item) string {
		text := i.Kind()
		if i.Job != nil {
			text += i.Job.ID
		}
		if i.Key != nil {
			text += i.Key.Key.Name
		}
		return text
	}
	slices.SortFunc(out, func(a, b transfer.Item) int { return cmp.Compare(name(a), name(b)) })
	return out
}

// difference returns the difference between the contents of two states, or "".
func difference(t *testing.T, source, target transfer.Store) string {
	t.Helper()
	return gocmp.Diff(content(t, source), content(t, target), cmpopts.IgnoreUnexported(execution.Request{}))
}

func TestCopyInAllDirections(t *testing.T) {
	t.Parallel()
	for from, openFrom := range kinds {
		for to, openTo := range kinds {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				source, target := openFrom(t), openTo(t)
				fill(t, source)
				calls := 0
				copied, err := transfer.Copy(t.Context(), source, target, false, func(int) { calls++ })
				want := map[string]int{"functions": 1, "jobs": 3, "keys": 2, "events": 1, "receivers": 1, "anchors": 1}
				if diff := gocmp.Diff(want, copied); err != nil || diff != "" || calls != 9 {
					t.Fatalf("%v, %d calls\n%s", err, calls, diff)
				}
				if diff := difference(t, source, target); diff != "" {
					t.Error(diff)
				}
				works(t, target)
			})
		}
	}
}

// works checks that a gateway continues where the source was left.
func works(t *testing.T, s store) {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	left, err := s.Orphans(ctx)
	if err != nil || len(left) != 1 {
		t.Fatalf("orphans: %+v %v", left, err)
	}
	if left[0].ID != running || left[0].Request.Code != running {
		t.Errorf("the orphan is %s with %q", left[0].ID, left[0].Request.Code)
	}
	if job, err := s.Claim(ctx, now, "", nil); err != nil || job.ID != queued || job.Request.Code != queued {
		t.Errorf("claim: %+v %v", job, err)
	}
	if due, err := s.Callbacks(ctx, now, now.Add(time.Minute), 8); err != nil || len(due) != 1 || due[0].ID != ended {
		t.Errorf("callbacks: %+v %v", due, err)
	}
	if due, err := s.Due(ctx, now.Add(2*time.Hour), 8); err != nil || len(due) != 1 {
		t.Errorf("schedules: %+v %v", due, err)
	}
	if gone, err := s.Gone(ctx, "t", "http://gone", now, time.Time{}); err != nil || !gone {
		t.Errorf("gone: %v %v", gone, err)
	}
	for name, begins := range map[string]bool{"answered": false, "open": true} {
		begun, mark, answer, err := s.Begin(ctx, execution.Key{Quota: execution.QuotaDeliveries, Tenant: "t", Name: name},
			"another", now, now.Add(time.Hour))
		if err != nil || begun != begins || mark != "mark" {
			t.Errorf("%s: begun %v, mark %q, %v", name, begun, mark, err)
		}
		if !begins && string(answer) != "answer" {
			t.Errorf("%s: the answer is %q", name, answer)
		}
	}
}

// objects returns the objects of a state in a bucket, as gateways stored it until they used tables: what fill stores.
func objects(t *testing.T, now time.Time) map[string][]byte {
	t.Helper()
	encode := func(v any) []byte {
		body, err := json.Marshal(v)
		must(t, err)
		return body
	}
	sum := func(b []byte) string {
		hash := sha256.Sum256(b)
		return hex.EncodeToString(hash[:])
	}
	type object = map[string]any
	out, contents := map[string][]byte{}, object{}
	saved := execution.SavedFunction{Tenant: "t", Name: "f",
		Schedule: &execution.FunctionSchedule{Cron: "* * * * *", Next: now.Add(time.Hour)}}
	for n := range 2 {
		saved.Versions = append(saved.Versions, execution.FunctionVersion{Version: n + 1})
		body := encode(execution.FunctionContent{Request: execution.Request{Code: fmt.Sprint(n)}})
		contents[fmt.Sprint(n+1)] = sum(body)
		out["contents/t74/f/"+sum(body)] = body
	}
	out["functions/t74/f"] = encode(object{"step": 1, "by": "a", "function": saved, "contents": contents})
	for id, status := range map[string]execution.Status{queued: execution.Queued, running: execution.Running,
		ended: execution.Completed} {
		job := execution.Job{ID: id, Tenant: "t", Subject: "s", Status: status, ReceivedAt: now,
			Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}}
		d := object{"step": 1, "by": "a", "request": execution.Request{Code: id, Priority: "high"}, "lease": now}
		if id == ended {
			job.EndedAt, d["result"] = now, object{"result": 1}
			job.Callback.State, job.Callback.Next = execution.CallbackPending, now
		}
		d["job"] = job
		out["jobs/"+id] = encode(d)
	}
	for _, name := range []string{"answered", "open"} {
		key := execution.Key{Quota: execution.QuotaDeliveries, Tenant: "t", Subject: "s", Name: name}
		d := object{"by": "a", "key": key, "mark": "mark", "until": now.Add(time.Hour), "lease": now}
		if name == "answered" {
			d["answered"], d["answer"] = true, []byte("answer")
		}
		out["deliveries/"+sum([]byte(name))] = encode(d)
	}
	out["events/t74/f/"+ended] = encode([]byte("event"))
	out["gone/t74/"+sum([]byte("http://gone"))] = encode(object{"until": now.Add(time.Hour), "url": "http://gone"})
	out["anchors/1.json"] = []byte("{}")
	out["marks/ended/0000000000001.1."+ended] = nil // due-entries are not copied
	return out
}

// A state that older gateways kept in a bucket can be copied to every other store; nothing can be copied into a bucket.
func TestCopyFromBucket(t *testing.T) {
	t.Parallel()
	for to, openTo := range kinds {
		t.Run("to "+to, func(t *testing.T) {
			t.Parallel()
			name, target := bucket.Bucket(t), openTo(t)
			now := time.Now().Truncate(time.Millisecond).UTC()
			for key, body := range objects(t, now) {
				_, err := bucket.Client(t).PutObject(t.Context(), &s3.PutObjectInput{Bucket: &name,
					Key: aws.String("state/" + key), Body: bytes.NewReader(body)})
				must(t, err)
			}
			source, err := s3state.Open(t.Context(), "s3://"+name+"/state", s3objects.Access{Endpoint: bucket.Endpoint})
			must(t, err)
			copied, err := transfer.Copy(t.Context(), source, target, false, func(int) {})
			want := map[string]int{"functions": 1, "jobs": 3, "keys": 2, "events": 1, "receivers": 1, "anchors": 1}
			if diff := gocmp.Diff(want, copied); err != nil || diff != "" {
				t.Fatalf("%v\n%s", err, diff)
			}
			if diff := difference(t, source, target); diff != "" {
				t.Error(diff)
			}
			works(t, target)
			if _, err := transfer.Copy(t.Context(), target, source, true, func(int) {}); !errors.Is(err,
				s3state.ErrReadOnly) {
				t.Errorf("a copy to a bucket: %v", err)
			}
		})
	}
}

// A copy that was interrupted is refused without resume, and completes with it.
func TestResume(t *testing.T) {
	t.Parallel()
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, target := kinds["folder"](t), open(t)
			fill(t, source)
			ctx, cancel := context.WithCancel(t.Context())
			_, err := transfer.Copy(ctx, source, target, false, func(n int) {
				if n == 3 {
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("it did not break off: %v", err)
			}
			_, err = transfer.Copy(t.Context(), source, target, false, func(int) {})
			if !errors.Is(err, transfer.ErrNotEmpty) {
				t.Errorf("over a copy: %v", err)
			}
			if _, err := transfer.Copy(t.Context(), source, target, true, func(int) {}); err != nil {
				t.Error(err)
			}
			if diff := difference(t, source, target); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefusedWhileInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := sqlitestate.Open(dir, sqlitestate.Config{})
	source := opened(t, sqlitestate.Transfer{Store: a}, err)
	b, err := sqlitestate.Open(dir, sqlitestate.Config{})
	opened(t, sqlitestate.Transfer{Store: b}, err)
	if _, err := transfer.Copy(t.Context(), source, kinds["folder"](t), false, func(int) {}); !errors.Is(err,
		transfer.ErrInUse) {
		t.Error(err)
	}
	if database == nil {
		t.Skip("Postgres is not installed")
	}
	url := database.Database(t)
	c, err := pgstate.Open(t.Context(), url, pgstate.Config{})
	target := opened(t, pgstate.Transfer{Store: c}, err)
	d, err := pgstate.Open(t.Context(), url, pgstate.Config{})
	opened(t, pgstate.Transfer{Store: d}, err)
	if _, err := transfer.Copy(t.Context(), kinds["folder"](t), target, false, func(int) {}); !errors.Is(err,
		transfer.ErrInUse) {
		t.Error(err)
	}
}

// damaged is a source that exports one item.
type damaged struct {
	transfer.Store
	item transfer.Item
}

func (d damaged) Export(_ context.Context, fn func(transfer.Item) error) error { return fn(d.item) }

func (damaged) InUse(context.Context) (bool, error) { return false, nil }

// What no gateway could have stored is refused, and not written into the target.
func TestDamagedItems(t *testing.T) {
	t.Parallel()
	long, later := strings.Repeat("x", 2<<20), time.Now().Add(time.Hour)
	value := bytes.Repeat([]byte("x"), 65<<20)
	waits := func(p execution.Pending) *execution.Job {
		return &execution.Job{ID: "exec_0123456789", Waits: execution.Waits{
			Wait: &execution.Wait{Pending: []execution.Pending{p}},
		}}
	}
	for name, item := range map[string]transfer.Item{
		"an ID that is none": {Job: &execution.Job{ID: "../a"}},
		"a long ID":          {Job: &execution.Job{ID: long}},
		"a long tenant":      {Job: &execution.Job{ID: "exec_0123456789", Tenant: long}},
		"a long result":      {Job: &execution.Job{ID: "exec_0123456789", Result: value}},
		"a long name":        {Function: &transfer.Function{Saved: execution.SavedFunction{Name: long}}},
		"a long key":         {Key: &transfer.Key{Key: execution.Key{Name: long}, Until: later}},
		"a long answer":      {Key: &transfer.Key{Key: execution.Key{Name: "k"}, Until: later, Answer: value}},
		"a long event":       {Event: &transfer.Event{Event: value}},
		"a long receiver":    {Gone: &transfer.Gone{URL: long, Until: later}},
		"a long anchor":      {Document: &transfer.Document{Body: value}},
		"parameters that are no JSON": {
			Job: waits(execution.Pending{Waiting: execution.Waiting{Args: json.RawMessage(`{"a":1},"b":{`)}})},
		"an answer that is no JSON": {
			Job: waits(execution.Pending{Answer: &execution.Answer{Value: json.RawMessage(`1},{`)}})},
	} {
		t.Run(name, func(t *testing.T) {
			target := kinds["folder"](t)
			_, err := transfer.Copy(t.Context(), damaged{item: item}, target, false, func(int) {})
			if err == nil || !strings.Contains(err.Error(), "the source is damaged") || len(err.Error()) > 200 {
				t.Errorf("it was copied: %.300v", err)
			}
			if holds, err := target.Holds(t.Context()); holds || err != nil {
				t.Errorf("the target holds it: %v", err)
			}
		})
	}
}
