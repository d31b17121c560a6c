package dynamostate_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/jobs/jobstest"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/dynamostate/dynamotest"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

var (
	server *dynamotest.Server
	bucket *s3test.Server
)

func TestMain(m *testing.M) {
	s3test.SetEnvironment()
	var err error
	if server, err = dynamotest.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if server != nil {
		bucket = s3test.MustStart()
	}
	code := m.Run()
	if server != nil {
		server.Stop()
		bucket.Stop()
	}
	os.Exit(code)
}

const deadAfter = time.Hour

// fleet is a state in a table. Only Kill moves its clock.
type fleet struct {
	url    string
	alarms dynamostate.Alarms

	mu    sync.Mutex
	ahead time.Duration
	live  map[*dynamostate.Store]bool
}

func newFleet(t testing.TB) *fleet {
	t.Helper()
	if server == nil {
		t.Skip(dynamotest.Modules + " is not set: make test-dynamo installs dynalite and sets it")
	}
	return &fleet{url: "dynamodb://" + server.Table(t) + "?contents=s3://" + bucket.Bucket(t) + "/state",
		live: map[*dynamostate.Store]bool{}}
}

func (f *fleet) open(t testing.TB, endpoint string, attempts int) *dynamostate.Store {
	t.Helper()
	s, err := dynamostate.Open(t.Context(), f.url, dynamostate.Config{MaxJobsPerTenant: 50, DeadAfter: deadAfter,
		Now: f.Now, Alarms: f.alarms, Access: dynamostate.Access{Endpoint: endpoint, Attempts: attempts,
			Objects: s3objects.Access{Endpoint: bucket.Endpoint}}})
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.live[s] = true
	f.mu.Unlock()
	t.Cleanup(func() {
		if f.lives(s) {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

func (f *fleet) lives(s *dynamostate.Store) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live[s]
}

func (f *fleet) Process(t *testing.T) statetest.Store { return f.open(t, server.Endpoint, 4) }

// Kill ends a process, and lets the time pass in which the others write their heartbeats and it does not.
func (f *fleet) Kill(t *testing.T, s statetest.Store) {
	t.Helper()
	store := s.(*dynamostate.Store)
	store.Die()
	f.mu.Lock()
	delete(f.live, store)
	f.mu.Unlock()
	const steps = 6
	for range steps {
		f.mu.Lock()
		f.ahead += deadAfter / 4
		var living []*dynamostate.Store
		for s := range f.live {
			living = append(living, s)
		}
		f.mu.Unlock()
		for _, s := range living {
			if err := s.Beat(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// mortal returns a process whose connection can be cut.
func (f *fleet) mortal(t *testing.T) (jobs.Store, func(lost bool) (mend func())) {
	m := way(t)
	return f.open(t, m.server.URL, 1), func(lost bool) func() {
		m.after(0, lost, true)
		return func() {}
	}
}

func (f *fleet) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Add(f.ahead)
}

// until moves the clock to a time, unless it has passed.
func (f *fleet) until(to time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ahead += max(0, time.Until(to)-f.ahead)
}

// A process stops or loses its connection at each step while executions wait.
func TestWaitingFaults(t *testing.T) {
	t.Parallel()
	jobstest.TestWaitingFaults(t, func(t *testing.T) jobstest.State {
		f := newFleet(t)
		return jobstest.State{Now: f.Now, Mortal: f.mortal,
			Process: func(t *testing.T) jobs.Store { return f.Process(t) },
			Kill:    func(t *testing.T, s jobs.Store) { f.Kill(t, s.(statetest.Store)) }}
	})
}

func TestConformance(t *testing.T) {
	t.Parallel()
	statetest.Test(t, func(t *testing.T) statetest.State { return newFleet(t) })
	statetest.TestPaused(t, func(t *testing.T) statetest.State { return newFleet(t) })
}

// A lost content stops its own execution only.
func TestLostRequest(t *testing.T) { withoutObject(t, statetest.TestLost) }

// Lost values of an execution that waits stop this execution only.
func TestLostValues(t *testing.T) { withoutObject(t, statetest.TestLostValues) }

// A lost snapshot stops its own execution only.
func TestLostSnapshot(t *testing.T) { withoutObject(t, statetest.TestLostSnapshot) }

func withoutObject(t *testing.T, test func(*testing.T, statetest.State, func(*testing.T))) {
	t.Helper()
	t.Parallel()
	f := newFleet(t)
	_, name, _ := strings.Cut(f.url, "s3://")
	name, _, _ = strings.Cut(name, "/")
	test(t, f, func(t *testing.T) {
		t.Helper()
		client := bucket.Client(t)
		found, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &name})
		if err != nil || len(found.Contents) != 1 {
			t.Fatalf("%d objects, %v", len(found.Contents), err)
		}
		_, err = client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &name, Key: found.Contents[0].Key})
		if err != nil {
			t.Fatal(err)
		}
	})
}
