package statetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// SmallQuotas returns quotas that are used up quickly, for [Quotas].
func SmallQuotas(string) execution.Storage {
	const mb = 1 << 20
	return execution.Storage{Functions: mb, Jobs: mb, Results: mb, Deliveries: mb, Keys: mb, Schedules: 3,
		KeepResults: time.Hour, KeepEvents: time.Hour, KeepKeys: time.Hour}
}

// A QuotaStore is a Store that counts what it keeps.
type QuotaStore interface {
	Store
	Begin(ctx context.Context, key execution.Key, mark string, now, until time.Time) (bool, string, []byte, error)
	Finish(ctx context.Context, key string, answer []byte) error
	KeepEvent(ctx context.Context, tenant, function, id string, event []byte, at time.Time) error
}

// Quotas checks that a tenant that grows without end is refused at one quota after the other, and another is not. open
// returns two processes of one state with [SmallQuotas], and a func that returns what is kept, which may be nil.
func Quotas(
	t *testing.T, open func(t *testing.T) (processes [2]QuotaStore, kept func(tenant, quota string) int64),
	quotas ...string,
) {
	t.Helper()
	for _, quota := range quotas {
		t.Run(quota, func(t *testing.T) {
			t.Parallel()
			stores, kept := open(t)
			var refused *execution.QuotaError
			n := 0
			for ; n < 200; n++ {
				if err := grow(t, stores[n%2], quota, "a", n); err != nil {
					if !errors.As(err, &refused) {
						t.Fatal(err)
					}
					break
				}
			}
			if refused == nil {
				t.Fatalf("%d times, and nothing is refused", n)
			}
			if refused.Quota != quota {
				t.Errorf("quota %q is used up, want %q", refused.Quota, quota)
			}
			if slack := int64(200 << 10); refused.Used > refused.Limit+slack {
				t.Errorf("%d of %d bytes are used", refused.Used, refused.Limit)
			}
			waits := quota != execution.QuotaFunctions && quota != execution.QuotaSchedules
			if (refused.After > 0) != waits {
				t.Errorf("there is room again after %v", refused.After)
			}
			if kept != nil {
				if bytes := kept("a", quota); bytes > 1<<20+300<<10 {
					t.Errorf("%d bytes are kept", bytes)
				}
			}
			if err := grow(t, stores[0], quota, "b", 0); err != nil {
				t.Errorf("another tenant: %v", err)
			}
		})
	}
}

// grow stores some 100 KiB that count against a quota of a tenant.
func grow(t *testing.T, s QuotaStore, quota, tenant string, n int) error {
	t.Helper()
	now, large := time.Now(), strings.Repeat("x", 100<<10)
	switch quota {
	case execution.QuotaFunctions:
		return s.Change(t.Context(), tenant, fmt.Sprint("f", n),
			func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
				f.Versions = append(f.Versions, execution.FunctionVersion{Version: len(f.Versions) + 1, CreatedAt: now})
				return &execution.FunctionContent{Request: execution.Request{Code: large}}, nil
			})
	case execution.QuotaSchedules:
		return s.Change(t.Context(), tenant, fmt.Sprint("f", n),
			func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
				f.Schedule = &execution.FunctionSchedule{Next: now}
				return nil, nil // no content
			})
	case execution.QuotaJobs:
		return s.Submit(t.Context(), execution.Job{ID: fmt.Sprintf("exec_%s%010d", tenant, n), Tenant: tenant, Subject: "s",
			Status: execution.Queued, ReceivedAt: now, Request: execution.Request{Code: large}})
	}
	key := execution.Key{Quota: quota, Tenant: tenant, Subject: "s", Name: fmt.Sprint(quota, tenant, n)}
	if quota == execution.QuotaDeliveries {
		key.Subject = ""
		if err := s.KeepEvent(t.Context(), tenant, "f", fmt.Sprintf("exec_%010d", n), []byte(large), now); err != nil {
			return err
		}
	}
	if _, _, _, err := s.Begin(t.Context(), key, "m", now, now.Add(time.Hour)); err != nil {
		return err
	}
	return s.Finish(t.Context(), key.Name, []byte(large))
}

// ResultsMakeRoom checks that the newest results of a tenant replace the oldest beyond its quota, unless receivers wait
// for them. The store has [SmallQuotas]; kept returns the bytes of results of the tenant "t".
func ResultsMakeRoom(t *testing.T, s Store, kept func() int64) {
	t.Helper()
	now := time.Now()
	body := []byte(`"` + strings.Repeat("x", 100<<10) + `"`)
	run := func(tenant string, n int, callback *execution.Callback) error {
		id := fmt.Sprintf("exec_%s%010d", tenant, n)
		err := s.Submit(t.Context(),
			execution.Job{ID: id, Tenant: tenant, Status: execution.Queued, ReceivedAt: now, Callback: callback})
		if err != nil {
			return err
		}
		_, err = s.ChangeJob(t.Context(), id, func(j *execution.Job) error {
			j.Status, j.EndedAt, j.Result = execution.Completed, now.Add(time.Duration(n)*time.Second), body
			return nil
		})
		return err
	}
	if err := run("other", 0, nil); err != nil {
		t.Fatal(err)
	}
	for n := range 30 {
		if err := run("t", n, nil); err != nil {
			t.Fatal(err)
		}
	}
	if bytes := kept(); bytes > 1<<20 || bytes < 1<<19 {
		t.Errorf("%d bytes", bytes)
	}
	if _, err := s.Job(t.Context(), fmt.Sprintf("exec_other%010d", 0)); err != nil {
		t.Errorf("the result of another tenant: %v", err)
	}
	for n, there := range map[int]bool{0: false, 15: false, 25: true, 29: true} {
		if _, err := s.Job(t.Context(), fmt.Sprintf("exec_t%010d", n)); (err == nil) != there {
			t.Errorf("%d: %v", n, err)
		}
	}
	var refused *execution.QuotaError
	for n := 30; n < 60 && refused == nil; n++ {
		err := run("t", n, &execution.Callback{State: execution.CallbackPending, Next: now})
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
	}
	if refused == nil || refused.Quota != execution.QuotaResults || refused.After == 0 {
		t.Errorf("%+v", refused)
	}
}
