package dynamostate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// pausedAttributes returns the attributes by which the index of paused jobs shows a job.
func pausedAttributes() []string { return []string{"doc", "subject"} }

// setWait writes into the item of a job what only a paused job has, and its snapshot until it ends.
func (t *table) setWait(ctx context.Context, it item, was, j execution.Job) (err error) {
	switch unread := len(j.Snapshot) == 0 && len(was.Snapshot) == 0; {
	case j.Ended(), len(j.Snapshot) == 0 && !unread:
		delete(it, "snapshot")
		delete(it, "snapshotBytes")
	case !unread:
		it["snapshotBytes"] = number(int64(len(j.Snapshot)))
		it["snapshot"], err = t.keepAgain(ctx, jobFolder(j.ID), it["snapshot"], was.Snapshot, j.Snapshot)
		if err != nil {
			return err
		}
	}
	for _, name := range []string{"wake", "paused", "subject"} {
		delete(it, name)
	}
	if j.Status == execution.Paused {
		it["wake"] = text(timed("", j.Wait.DueAt, j.Tenant, j.ID).at)
		it["paused"] = text(tenantPart(j.Tenant))
		if j.Subject != "" {
			it["subject"] = binary([]byte(j.Subject))
		}
	}
	return nil
}

// setAside writes what is beside the document of a job into its item, unless the item has it.
func (t *table) setAside(ctx context.Context, it item, was, j execution.Job, aside execution.Stored) (err error) {
	switch {
	case len(aside) == 0:
		delete(it, "aside")
	case it["aside"] == nil || !slices.EqualFunc(aside, share.Aside(was), bytes.Equal):
		it["aside"], err = t.keepParts(ctx, jobFolder(j.ID), aside)
	}
	return err
}

// DueWaits returns paused jobs for which something is due, those that are due longest first. If there are more, each
// tenant has its share. The jobs have neither request nor snapshot.
func (s *Store) DueWaits(ctx context.Context, now time.Time, limit int) (out []execution.Job, err error) {
	due, err := s.due(ctx, wakeIndex(), string(execution.Paused), now, limit)
	if err != nil {
		return nil, fmt.Errorf("look for paused jobs: %w", err)
	}
	for _, l := range due {
		job, err := s.JobState(ctx, idOf(l.key))
		switch {
		case errors.Is(err, execution.ErrNotFound):
		case err != nil:
			return nil, fmt.Errorf("look for paused jobs: %w", err)
		case job.Status == execution.Paused && !job.Wait.DueAt.After(now): // the index may be behind
			out = append(out, job)
		}
	}
	return out, nil
}

// Paused returns the paused jobs of a tenant, or of one of its subjects, whose ID is greater, in the order of their
// IDs. The jobs have neither request nor snapshot, and may be as they were a moment ago.
func (s *Store) Paused(ctx context.Context, tenant, subject, after string, limit int) ([]execution.Job, error) {
	x := pausedIndex()
	in := &dynamodb.QueryInput{TableName: &s.name, IndexName: &x.name, Limit: page(limit),
		KeyConditionExpression:    aws.String("paused = :tenant AND pk > :after"),
		ExpressionAttributeValues: item{":tenant": text(tenantPart(tenant)), ":after": jobKey(after)["pk"]}}
	if subject != "" {
		in.FilterExpression, in.Limit = aws.String("subject = :subject"), nil
		in.ExpressionAttributeValues[":subject"] = binary([]byte(subject))
	}
	var out []execution.Job
	err := s.query(ctx, in, func(it item) (bool, error) {
		job, err := s.stateOf(ctx, it)
		if errors.Is(err, share.ErrAside) { // the index has only the document
			job, err = s.JobState(ctx, idOf(it))
		}
		if err == nil && (job.Status == "" || job.Status == execution.Paused) {
			job.Status = execution.Paused
			out = append(out, job)
		}
		if errors.Is(err, errMoved) || errors.Is(err, execution.ErrNotFound) {
			err = nil // it was changed meanwhile
		}
		return len(out) < limit, err
	})
	if err != nil {
		return nil, fmt.Errorf("look for paused jobs: %w", err)
	}
	return out, nil
}

// Jobs returns the jobs of a tenant, or of one of its subjects, that have a status, whose ID is greater, in the order
// of their IDs. The jobs have no request. It reads the tenant's part of the index, and then at most four items for each
// job that it may return.
func (s *Store) Jobs(
	ctx context.Context, tenant, subject string, status execution.Status, after string, limit int,
) (jobs []execution.Job, next string, err error) {
	list, from, to := queuedList, tenantPart(tenant), behind(tenantPart(tenant))
	if status == execution.Running {
		list, from, to = runningList, first, last
	}
	var ids []string
	held := s.keeping()
	err = s.index(ctx, list, from, to, 1000, func(l listed) (bool, error) {
		id := idOf(l.key)
		if id <= after {
			return true, nil
		}
		ids = append(ids, id)
		return true, held.add(id)
	})
	if err != nil {
		return nil, "", fmt.Errorf("list jobs: %w", err)
	}
	slices.Sort(ids)
	for i, id := range ids {
		if len(jobs) == limit || i == 4*limit {
			return jobs, ids[i-1], nil
		}
		job, err := s.JobState(ctx, id)
		switch {
		case errors.Is(err, execution.ErrNotFound):
		case err != nil:
			return nil, "", fmt.Errorf("list jobs: %w", err)
		case job.Status == status && job.Tenant == tenant && (subject == "" || job.Subject == subject):
			jobs = append(jobs, job)
		}
	}
	return jobs, "", nil
}
