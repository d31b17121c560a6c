package s3state_test

import (
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/s3state"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

const lease = 3 * time.Minute

// shared is a state in a bucket.
type shared struct {
	bucket   string
	endpoint string

	mu    sync.Mutex
	ahead time.Duration
}

func newShared(t *testing.T) *shared {
	t.Helper()
	return &shared{bucket: server.Bucket(t), endpoint: server.Endpoint}
}

func (s *shared) at(t *testing.T, endpoint string, attempts int) *s3state.Store {
	t.Helper()
	store, err := s3state.Open(t.Context(), "s3://"+s.bucket+"/state", s3state.Config{
		Access: s3objects.Access{Endpoint: endpoint, Attempts: attempts, AttemptTimeout: time.Minute},
		Lease:  lease, Poll: time.Nanosecond, MaxJobsPerTenant: 50, Now: s.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func (s *shared) Process(t *testing.T) statetest.Store { return s.at(t, s.endpoint, 3) }

// Kill lets the leases of the dead run out: nothing else tells that it has died.
func (s *shared) Kill(*testing.T, statetest.Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += lease + time.Second
}

func (s *shared) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.ahead)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	statetest.Test(t, func(t *testing.T) statetest.State { return newShared(t) })
}

// In a bucket that keeps versions the marks of a job leave nothing behind: not even the markers of what was deleted,
// which every look at a list would have to pass.
func TestMarksLeaveNothing(t *testing.T) {
	t.Parallel()
	state, client := newShared(t), server.Client(t)
	_, err := client.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket:                  &state.bucket,
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, now := state.Process(t), state.Now()
	const id = "exec_0000000001"
	job := execution.Job{ID: id, Status: execution.Queued, Callback: &execution.Callback{URL: "http://x"}}
	if err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), now, "", nil); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{execution.CallbackPending, execution.CallbackDelivered} {
		_, err = s.ChangeJob(t.Context(), id, func(j *execution.Job) error {
			j.Status, j.EndedAt, j.Callback.State = execution.Completed, now, state
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Prune(t.Context(), now, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	left, err := client.ListObjectVersions(t.Context(),
		&s3.ListObjectVersionsInput{Bucket: &state.bucket, Prefix: aws.String("state/marks/")})
	if err != nil || len(left.Versions)+len(left.DeleteMarkers) != 0 {
		t.Errorf("%d versions and %d markers, %v", len(left.Versions), len(left.DeleteMarkers), err)
	}
}
