package s3state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

const maxJob = 64 << 20 // the request, and the result at most twice in base64

// jobDocument is a job as it is stored.
type jobDocument struct {
	steps
	Job     execution.Job     `json:"job"`
	Request execution.Request `json:"request"`
	Result  json.RawMessage   `json:"result,omitempty"`
	// Lease is when the owner's claim ends.
	Lease time.Time `json:"lease,omitzero"`
	// Telling is when the current attempt at its callback ends.
	Telling time.Time `json:"telling,omitzero"`
}

func (d *jobDocument) dueEntry() dueEntry {
	j := d.Job
	e := dueEntry{step: d.Step, name: j.ID}
	switch {
	case j.Status == execution.Queued:
		e.list, e.when = queuedList+tenantPart(j.Tenant)+class(d.Request.Priority),
			max(millis(j.ReceivedAt), millis(j.NotBefore))
	case j.Status == execution.Running:
		e.list, e.when = runningList, millis(d.Lease)
	case j.Callback != nil && j.Callback.State == execution.CallbackPending:
		e.list, e.when = tellingList, max(millis(j.Callback.Next), millis(d.Telling))
	default:
		e.list, e.when = endedList, millis(j.EndedAt)
	}
	return e
}

// class maps a priority to a key part that sorts the highest first.
func class(priority string) string {
	switch priority {
	case "low":
		return "2"
	case "high":
		return "0"
	}
	return "1"
}

func (d *jobDocument) take(j execution.Job) {
	d.Job, d.Request, d.Result, d.Telling = j, j.Request, j.Result, time.Time{}
}

func (d *jobDocument) job() execution.Job {
	j := d.Job
	j.Request, j.Result = d.Request, d.Result
	return j
}

func jobKey(id string) string { return "jobs/" + id }

var (
	errThere  = errors.New("the job exists")
	errPassed = errors.New("the job has moved to another list")
)

// Submit stores a job durably. A job whose ID exists stays as it is. The error is execution.ErrFull if the tenant has
// too many queued jobs.
func (s *Store) Submit(ctx context.Context, job execution.Job) error {
	switch {
	case s.cfg.NoJobs:
		return execution.ErrNotKept
	case !execution.ValidID(job.ID):
		return fmt.Errorf("submit job: %q cannot be part of a key", job.ID)
	}
	if err := s.room(ctx, job.Tenant); err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	var now dueEntry
	err := change(ctx, s, jobKey(job.ID), maxJob, func(d *jobDocument, there bool) error {
		if there {
			now = d.dueEntry()
			return errThere
		}
		d.take(job)
		return nil
	})
	if errors.Is(err, errThere) {
		err = nil
		if strings.HasPrefix(now.list, queuedList) { // its submitter may have died before it wrote the due-entry
			err = s.put(ctx, now)
		}
	}
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	return nil
}

// room counts one more job of a tenant, or returns execution.ErrFull.
func (s *Store) room(ctx context.Context, tenant string) error {
	most := int64(s.cfg.MaxJobsPerTenant)
	jobs, err := s.tallies.Used(execution.QuotaJobs, tenant, func() (int64, error) {
		keys, err := s.objects.List(ctx, dueFolder+queuedList+tenantPart(tenant), "", s.cfg.MaxJobsPerTenant)
		return int64(len(keys)), err
	})
	if err != nil {
		return err
	}
	if jobs >= most {
		return execution.ErrFull
	}
	s.tallies.Add(execution.QuotaJobs, tenant, 1)
	return nil
}

// Job returns a job. The error is execution.ErrNotFound if there is none.
func (s *Store) Job(ctx context.Context, id string) (execution.Job, error) {
	var d jobDocument
	if !execution.ValidID(id) {
		return execution.Job{}, execution.ErrNotFound
	}
	_, there, err := s.read(ctx, jobKey(id), maxJob, &d)
	switch {
	case err != nil:
		return execution.Job{}, fmt.Errorf("read job: %w", err)
	case !there:
		return execution.Job{}, execution.ErrNotFound
	}
	return d.job(), nil
}

// ChangeJob hands a job to fn and keeps what fn makes of it, all or nothing. fn may be called more than once. An
// error of fn changes nothing and is returned unchanged.
func (s *Store) ChangeJob(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error) {
	var job execution.Job
	if !execution.ValidID(id) {
		return job, execution.ErrNotFound
	}
	err := change(ctx, s, jobKey(id), maxJob, func(d *jobDocument, there bool) error {
		if !there {
			return execution.ErrNotFound
		}
		job = d.job()
		if err := fn(&job); err != nil {
			return err
		}
		d.take(job)
		return nil
	})
	if err == nil && job.Status != execution.Running {
		s.mu.Lock()
		delete(s.mine, id)
		s.mu.Unlock()
	}
	return job, err
}
