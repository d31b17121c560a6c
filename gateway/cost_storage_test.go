package gateway_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/dynamostate/dynamotest"
)

// longest returns a request of 16 MiB whose files are not ASCII. n makes requests different.
func longest(n int) string {
	body := costlyRequests()["four files of letters"]
	return strings.Replace(body, `"1"`, fmt.Sprintf(`"%d"`, n), 1)
}

// A version of 16 MiB costs the gateway's own process no more than another request, whatever is done with it.
func TestOwnCostsOfStoredSources(t *testing.T) { storedSources(t, costServer(t)) }

// The same holds with state in a table, whose bucket is reached over TLS.
func TestOwnCostsOfSourcesInTables(t *testing.T) {
	tables := dynamotest.ForTest(t)
	objects, err := s3test.StartTLS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(objects.Stop)
	for _, pair := range s3test.Environment() {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	store, err := dynamostate.Open(t.Context(),
		"dynamodb://"+tables.Table(t)+"?contents=s3://"+objects.Bucket(t)+"/state", dynamostate.Config{
			MaxJobsPerTenant: 100, Access: dynamostate.Access{Endpoint: tables.Endpoint, Objects: objects.Access()},
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s := serve(t, options{reader: newFarReader(t), invoke: encodedEcho, state: store})
	s.do(t, "PUT", "/api/functions/g", `{"code":"input"}`)
	storedSources(t, s)
}

// storedSources checks the costs of versions of 16 MiB.
func storedSources(t *testing.T, s *served) {
	t.Helper()
	n := 0
	save := func() (time.Duration, string) { // a content that was not saved before
		n++
		s.do(t, "DELETE", "/api/functions/f", "") // the quota has no room for all tries
		body := longest(n)
		took, status := s.once(t, "PUT", "/api/functions/f", body, "application/json")
		if status != 201 {
			t.Fatal(status)
		}
		return took, body
	}
	s.within(t, "a version", ownTime, 16<<20, func() time.Duration {
		took, body := save()
		return took - s.transport(t, body)
	})
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/functions/f", ""}, {"GET", "/api/functions/f/versions/1", ""}, {"GET", "/api/functions", ""},
		{"PUT", "/api/functions/f/aliases/a", `{"version":1}`}, {"POST", "/api/functions/f/invoke", "{}"},
		{"GET", "/api/functions/f/diff", ""}, {"DELETE", "/api/functions/f", ""},
	} {
		s.within(t, c.method+" "+c.path+" of a new version", ownTime, 1<<20, func() time.Duration {
			save()
			took, status := s.once(t, c.method, c.path, c.body, "application/json")
			if status >= 400 {
				t.Fatalf("%s %s: %d", c.method, c.path, status)
			}
			return took
		})
	}
}

// A job with a request of 16 MiB costs for each of its requests no more than another job: the one that stores it, its
// run, and the reads while it runs and when it has ended.
func TestOwnCostsOfLongJobs(t *testing.T) {
	running, proceed := make(chan struct{}), make(chan struct{})
	s := kept(t, options{reader: newFarReader(t), invoke: func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		if _, err := inv.Encode(); err != nil {
			return execution.Reply{}, err
		}
		if len(inv.Request.Files) > 0 {
			running <- struct{}{}
			<-proceed
		}
		return small(ctx, inv, onLog)
	}})
	n := 0
	s.within(t, "a job that is stored and begins", 2*ownTime, 1<<20, func() time.Duration {
		n++
		body := longest(n)
		before := processorTime()
		if _, status := s.once(t, "POST", "/api/execute", body, "application/json", prefer); status != 202 {
			t.Fatal(status)
		}
		<-running
		took := processorTime() - before - s.transport(t, body)
		proceed <- struct{}{}
		return took
	})
	accepted := s.do(t, "POST", "/api/execute", longest(0), prefer)
	<-running
	location := want(t, accepted, 202).Header.Get("Location")
	for _, c := range []struct{ method, path string }{
		{"GET", location}, {"GET", "/api/executions?status=running"},
		{"GET", "/api/executions/" + strings.TrimPrefix(location, "/api/result/")},
	} {
		s.within(t, c.method+" "+c.path, ownTime/5, 1<<20, func() time.Duration {
			took, status := s.once(t, c.method, c.path, "", "application/json")
			if status != 200 {
				t.Fatalf("%s: %d", c.path, status)
			}
			return took
		})
	}
	proceed <- struct{}{}
	want(t, s.ended(t, location), 200, `"status":"completed"`)
}

// A step of a session of 12 MB, and all other requests about it, cost no more than another request; and the session
// continues with the snapshot of its last step.
func TestOwnCostsOfLargeSessions(t *testing.T) {
	snapshot := make([]byte, 12<<20)
	_, _ = rand.Read(snapshot) // never fails
	s := kept(t, options{reader: newFarReader(t), config: gateway.Config{SnapshotKeys: snapshotKeys(t)}, invoke: func(
		_ context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		result := execution.Result{
			ID: inv.ID, Status: execution.Completed, Result: json.RawMessage("0"),
			Environment: execution.Environment{Engine: "quickjs", EngineBuild: "b", Policy: "standard"},
		}
		result.Snapshot = bytes.Clone(snapshot)
		if in := inv.Session; in != nil {
			result.Snapshot[0] = byte(in.Step)
			if in.Step > 1 && (len(in.Snapshot) != len(snapshot) || in.Snapshot[0] != byte(in.Step-1)) {
				return execution.Reply{}, fmt.Errorf("step %d begins with %d other bytes", in.Step, len(in.Snapshot))
			}
		}
		return execution.Reply{Recorded: true, Result: result}, nil
	}})
	path := s.session(t, "{}")
	for range 3 {
		want(t, s.do(t, "POST", path+"/execute", code("1")), 200, `"status":"completed"`)
	}
	want(t, s.do(t, "GET", path, ""), 200, `"steps":3`, `"bytes":125829`)
	for _, c := range []struct {
		method, path, body string
		most               time.Duration
	}{
		{"POST", path + "/execute", code("1"), ownTime}, {"GET", path, "", ownTime / 5},
		{"GET", "/api/sessions", "", ownTime / 5}, {"POST", path + "/fork", "{}", ownTime},
	} {
		s.within(t, c.method+" "+c.path, c.most, 1<<20, func() time.Duration {
			took, status := s.once(t, c.method, c.path, c.body, "application/json")
			if status >= 400 {
				t.Fatalf("%s %s: %d", c.method, c.path, status)
			}
			return took
		})
	}
	s.within(t, "DELETE "+path, ownTime, 1<<20, func() time.Duration {
		id := want(t, s.do(t, "POST", path+"/fork", "{}"), 201).json(t)["id"].(string)
		took, status := s.once(t, "DELETE", "/api/sessions/"+id, "", "application/json")
		if status != 204 {
			t.Fatal(status)
		}
		return took
	})
}

// A list of functions with as many versions as there may be costs no more than another request, and all pages together
// have every function.
func TestOwnCostsOfManyVersions(t *testing.T) {
	const functions, versions = 100, 1000
	s := kept(t, options{reader: newFarReader(t)})
	for n := range functions {
		err := s.state.Change(t.Context(), "default", fmt.Sprintf("f%03d", n), func(f *execution.SavedFunction) (
			*execution.FunctionContent, error) {
			f.CreatedAt = time.Now()
			f.Aliases = map[string]execution.FunctionAlias{"latest": {Version: versions}}
			for v := range versions {
				f.Versions = append(f.Versions, execution.FunctionVersion{
					Version: v + 1, Digest: strings.Repeat("a", 64), CodeSHA256: strings.Repeat("b", 64), CreatedBy: "ann",
				})
			}
			return nil, nil // the contents do not matter
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/functions?limit=100", ""}, {"GET", "/api/functions", ""}, {"GET", "/api/functions/f000/versions", ""},
		{"PUT", "/api/functions/f000/aliases/latest", `{"version":1}`},
	} {
		s.within(t, c.method+" "+c.path, ownTime, 1<<20, func() time.Duration {
			took, status := s.once(t, c.method, c.path, c.body, "application/json")
			if status != 200 {
				t.Fatalf("%s: %d", c.path, status)
			}
			return took
		})
	}
	var names []string
	for path := "/api/functions"; path != ""; {
		page := want(t, s.do(t, "GET", path, ""), 200).json(t)
		for _, item := range page["items"].([]any) {
			names = append(names, item.(map[string]any)["name"].(string))
		}
		next, _ := page["next"].(string)
		if path = ""; next != "" {
			path = "/api/functions?cursor=" + next
		}
	}
	if len(names) != functions || !slices.IsSorted(names) {
		t.Errorf("%d functions: %v", len(names), names)
	}
}

// A record with a request of 15 MB costs the gateway's own process no more than another request when it is read, alone,
// in a list or for a replay.
func TestOwnCostsOfLongRecords(t *testing.T) {
	store, err := filerecords.Open(t.TempDir(), filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := kept(t, options{reader: newFarReader(t), invoke: small, store: store})
	const size = 15 << 20
	for n, text := range []string{
		`[0` + strings.Repeat(",0", size/2) + `]`, `"` + strings.Repeat(`x\"`, size/3) + `"`,
		`"` + strings.Repeat("é", size/2) + `"`, `[{}` + strings.Repeat(",{}", size/3) + `]`,
	} {
		r := recordstest.Sample(time.Now())
		r.Request = json.RawMessage(`{"code":"1","input":` + text + `}`)
		if err := store.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		for method, path := range map[string]string{
			"GET": "/api/audit/execution/" + r.ID, "POST": "/api/audit/execution/" + r.ID + "/replay",
		} {
			what := fmt.Sprint(method, " of record ", n)
			s.within(t, what, ownTime, 16<<20, func() time.Duration { return s.cost(t, method, path, "") })
		}
		s.within(t, fmt.Sprint("a list with record ", n), ownTime, 16<<20, func() time.Duration {
			return s.cost(t, "GET", "/api/audit/executions?limit=1", "")
		})
	}
}
