package dynamostate_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

// limited returns a process of a state whose tenants have small quotas.
func (f *fleet) limited(t *testing.T, now func() time.Time) *dynamostate.Store {
	t.Helper()
	s, err := dynamostate.Open(t.Context(), f.url, dynamostate.Config{DeadAfter: deadAfter, Now: now,
		Storage: statetest.SmallQuotas, Access: dynamostate.Access{Endpoint: server.Endpoint, Attempts: 4,
			Objects: s3objects.Access{Endpoint: bucket.Endpoint}}})
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

// Each kind of growth ends at its quota, over two processes, and leaves another tenant alone.
func TestQuotas(t *testing.T) {
	t.Parallel()
	statetest.Quotas(t, func(t *testing.T) ([2]statetest.QuotaStore, func(tenant, quota string) int64) {
		f := newFleet(t)
		return [2]statetest.QuotaStore{f.limited(t, time.Now), f.limited(t, time.Now)}, nil
	}, execution.QuotaFunctions, execution.QuotaSchedules, execution.QuotaJobs, execution.QuotaKeys,
		execution.QuotaDeliveries)
}

func TestResultsMakeRoom(t *testing.T) {
	t.Parallel()
	s := newFleet(t).limited(t, time.Now)
	statetest.ResultsMakeRoom(t, s, func() int64 { return used(t, s, "t", execution.QuotaResults).Bytes })
}

// used returns the use of a quota by a tenant.
func used(t *testing.T, s *dynamostate.Store, tenant, quota string) (sum execution.StorageUsage) {
	t.Helper()
	stats, err := s.Stats(t.Context())
	if err != nil || !stats.Uncounted {
		t.Fatalf("%+v, %v", stats, err)
	}
	for _, u := range stats.Usage {
		if u.Tenant == tenant && u.Quota == quota {
			sum.Bytes, sum.Count = sum.Bytes+u.Bytes, sum.Count+u.Count
		}
	}
	return sum
}

// A tenant that removes a schedule or a function with one has room for another.
func TestSchedulesMakeRoom(t *testing.T) {
	t.Parallel()
	s := newFleet(t).limited(t, time.Now)
	schedule := func(name string, on bool) error {
		return s.Change(t.Context(), "a", name, func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
			f.Schedule = nil
			if on {
				f.Schedule = &execution.FunctionSchedule{Next: time.Now().Add(time.Hour)}
			}
			return nil, nil // no content
		})
	}
	for _, name := range []string{"f", "g", "h", "h"} {
		if err := schedule(name, true); err != nil {
			t.Fatal(err)
		}
	}
	var full *execution.QuotaError
	if err := schedule("i", true); !errors.As(err, &full) || full.Quota != execution.QuotaSchedules || full.Limit != 3 {
		t.Fatal(err)
	}
	if n := used(t, s, "a", execution.QuotaSchedules).Count; n != 3 {
		t.Errorf("%d schedules are counted", n)
	}
	if err := errors.Join(schedule("f", false), schedule("i", true), s.Delete(t.Context(), "a", "g"),
		schedule("f", true)); err != nil {
		t.Error(err)
	}
	if err := schedule("j", true); !errors.As(err, &full) {
		t.Error(err)
	}
}

func TestSessionGrowth(t *testing.T) {
	t.Parallel()
	statetest.SessionGrowth(t, newFleet(t).limited(t, time.Now), time.Now(), 1<<20)
}

// What has ended or expired makes room: jobs when they end, keys when their time is over. A key that is taken counts
// once.
func TestQuotasMakeRoom(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newFleet(t).limited(t, func() time.Time { return now })
	large := make([]byte, 300<<10)
	for n := range 10 {
		id := fmt.Sprintf("exec_%010d", n)
		if err := s.Submit(t.Context(), execution.Job{ID: id, Tenant: "a", Status: execution.Queued, ReceivedAt: now,
			Request: execution.Request{Code: string(large)}}); err != nil {
			t.Fatalf("job %d: %v", n, err)
		}
		if _, err := s.ChangeJob(t.Context(), id, func(j *execution.Job) error {
			j.Status, j.EndedAt, j.Result = execution.Completed, now, large
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	key := execution.Key{Quota: execution.QuotaKeys, Tenant: "a", Name: "k"}
	for n := range 10 {
		begun, _, _, err := s.Begin(t.Context(), key, string(large[:100<<10]), now, now.Add(time.Hour))
		if err != nil || begun != (n == 0) {
			t.Fatalf("the same key again, %d: begun %v, %v", n, begun, err)
		}
	}
	take := func(n int) error {
		k := execution.Key{Quota: execution.QuotaKeys, Tenant: "a", Name: fmt.Sprint("k", n)}
		if _, _, _, err := s.Begin(t.Context(), k, "m", now, now.Add(time.Hour)); err != nil {
			return err
		}
		return s.Finish(t.Context(), k.Name, large)
	}
	var full *execution.QuotaError
	for n := 0; full == nil; n++ {
		if err := take(n); err != nil && !errors.As(err, &full) || n > 10 {
			t.Fatalf("key %d: %v", n, err)
		}
	}
	now = now.Add(full.After)
	if err := take(100); err != nil {
		t.Errorf("after the time that the refusal named: %v", err)
	}
}
