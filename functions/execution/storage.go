package execution

import (
	"errors"
	"fmt"
	"time"
)

// The storage quotas of a tenant. Codes are append-only.
const (
	QuotaFunctions  = "functions"
	QuotaJobs       = "jobs"
	QuotaResults    = "results"
	QuotaDeliveries = "deliveries"
	QuotaKeys       = "keys"
	QuotaSchedules  = "schedules"
)

// Storage is the quota of a tenant's stored state. Zero means the default.
type Storage struct {
	Functions  int64 // bytes of functions and all their versions; 128 MiB
	Jobs       int64 // bytes of jobs that have not ended; 64 MiB
	Results    int64 // bytes of jobs that have ended; 64 MiB
	Deliveries int64 // bytes of webhook deliveries, their answers and the events that can be delivered again; 64 MiB
	Keys       int64 // bytes of idempotency keys and their answers; 32 MiB
	Schedules  int64 // functions with a schedule; 1,000

	KeepResults time.Duration // how long what ended can be asked for; 7 days
	KeepEvents  time.Duration // how long an event can be delivered again; 7 days
	KeepKeys    time.Duration // how long an idempotency key is known; 24 hours, which is also the most
}

// DefaultStorage returns the quota of a tenant unless the deployment sets another.
func DefaultStorage() Storage {
	const mb, day = 1 << 20, 24 * time.Hour
	return Storage{
		Functions: 128 * mb, Jobs: 64 * mb, Results: 64 * mb, Deliveries: 64 * mb, Keys: 32 * mb, Schedules: 1000,
		KeepResults: 7 * day, KeepEvents: 7 * day, KeepKeys: day,
	}
}

// OrDefault returns s with the default for every zero.
func (s Storage) OrDefault() Storage {
	d := DefaultStorage()
	for _, pair := range []struct{ have, fallback *int64 }{
		{&s.Functions, &d.Functions}, {&s.Jobs, &d.Jobs}, {&s.Results, &d.Results}, {&s.Deliveries, &d.Deliveries},
		{&s.Keys, &d.Keys},
		{&s.Schedules, &d.Schedules},
	} {
		if *pair.have <= 0 {
			*pair.have = *pair.fallback
		}
	}
	for _, pair := range []struct{ have, fallback *time.Duration }{
		{&s.KeepResults, &d.KeepResults}, {&s.KeepEvents, &d.KeepEvents}, {&s.KeepKeys, &d.KeepKeys},
	} {
		if *pair.have <= 0 {
			*pair.have = *pair.fallback
		}
	}
	return s
}

// A Key names a webhook delivery or a request that must not be processed twice.
type Key struct {
	// Quota is the quota that the key counts against: QuotaDeliveries or QuotaKeys.
	Quota string
	// Tenant and Subject own the quota. Subject may be empty.
	Tenant, Subject string
	// Name is unique among all keys of all tenants.
	Name string
}

// A QuotaError reports a change that would exceed a tenant's quota. Nothing was changed.
type QuotaError struct {
	// Quota is one of the Quota constants.
	Quota string
	// Used is the tenant's use, and Limit its quota: bytes, or a number of QuotaSchedules.
	Used, Limit int64
	// After is when there may be room again by itself; 0 if only deleting helps.
	After time.Duration
}

// Error implements error.
func (e *QuotaError) Error() string {
	unit := "bytes"
	if e.Quota == QuotaSchedules {
		unit = "functions with a schedule"
	}
	return fmt.Sprintf("the tenant's storage quota %q is used up: %d of %d %s", e.Quota, e.Used, e.Limit, unit)
}

// StoreFault is why a store cannot work. Codes are append-only.
type StoreFault string

// The faults of a store.
const (
	StoreFull     StoreFault = "full"      // the disk, or the quota of the file system
	StoreBusy     StoreFault = "busy"      // somebody else holds its lock
	StoreCorrupt  StoreFault = "corrupt"   // what it reads is not what was written
	StoreReadOnly StoreFault = "read_only" // it may not be written to
	StoreLost     StoreFault = "lost"      // it cannot be reached, or its disk fails
)

// ErrContentLost marks the error of a store whose content of one item is lost or damaged, whatever the others are.
var ErrContentLost = errors.New("a content is not there")

// A StoreError reports a store that cannot work. Nothing was changed.
type StoreError struct {
	Fault StoreFault
	Err   error
}

// Error implements error.
func (e *StoreError) Error() string { return "the store is " + string(e.Fault) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// StorageStats is the content of a store.
type StorageStats struct {
	// FileBytes is the size of the store on disk, FreeBytes the reusable part of it; 0 if unknown.
	FileBytes, FreeBytes int64
	// Uncounted says that only bytes are known, and no numbers of items apart from those of schedules.
	Uncounted bool
	Usage     []StorageUsage
}

// StorageUsage is one tenant's use of one kind.
type StorageUsage struct {
	Tenant string
	Quota  string
	Count  int64
	Bytes  int64
}

// A Backlog counts the jobs that have not ended, without sessions.
type Backlog struct {
	Queued, Running, Paused int64
	// Oldest is since when the oldest of the queued jobs waits; zero if none does.
	Oldest time.Time
}

// queuedSince returns when a job, or its next segment, was queued.
func (j Job) queuedSince() time.Time {
	if j.Wait != nil && j.Wait.Changed.After(j.ReceivedAt) {
		return j.Wait.Changed
	}
	return j.ReceivedAt
}

// OldestOf returns since when the oldest of some queued jobs waits; zero if there are none.
func OldestOf(queued []Job) (oldest time.Time) {
	for _, j := range queued {
		if since := j.queuedSince(); oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	return oldest
}
