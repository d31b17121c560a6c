package dynamostate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

func jobKey(id string) key { return keyOf("job#"+id, "-") }

// jobBytes is what a job takes besides its code, its files and its results.
const jobBytes = 1 << 10

// normal is the priority of a request that names none.
const normal = "normal"

func jobFolder(id string) string { return "jobs/" + id }

// idOf returns the ID of a job from its key.
func idOf(k key) string { return strings.TrimPrefix(textOf(k["pk"]), "job#") }

// validID reports whether an ID is that of an execution or of a session, and so can be part of a key.
func validID(id string) bool { return execution.ValidID(id) || execution.ValidSessionID(id) }

// class maps a priority to a key part that sorts the highest first.
func class(priority string) string {
	switch priority {
	case "low":
		return "2/"
	case "high":
		return "0/"
	}
	return "1/"
}

// jobEntry returns the place of a job in the index.
func jobEntry(j execution.Job) entry {
	switch {
	case j.Status == execution.Queued:
		due := max(millis(j.ReceivedAt), millis(j.NotBefore))
		return entry{queuedList, tenantPart(j.Tenant) + class(j.Request.Priority) + when(due) + j.ID}
	case j.Status == execution.Running:
		return entry{runningList, j.Owner}
	case j.Callback != nil && j.Callback.State == execution.CallbackPending:
		return timed(callbacksList, j.Callback.Next, j.Tenant, j.ID)
	}
	if j.Status == execution.Paused {
		return entry{}
	}
	return timed(endedList, j.EndedAt, j.Tenant, j.ID)
}

// setJob writes a job into its item, which holds the job as it was. A request that the item holds stays as it is.
func (t *table) setJob(ctx context.Context, it item, was, j execution.Job) error {
	doc, aside, err := share.EncodeJob(j)
	if err != nil {
		return err
	}
	if err := t.setAside(ctx, it, was, j, aside); err != nil {
		return err
	}
	if it["doc"], err = t.keep(ctx, jobFolder(j.ID), doc); err != nil {
		return err
	}
	switch {
	case j.Ended():
		it["request"] = binary([]byte("{}")) // nobody needs it
	case it["request"] == nil:
		it["priority"] = text(cmp.Or(j.Request.Priority, normal))
		parts, err := j.Request.Stored()
		if err != nil {
			return err
		}
		if it["request"], err = t.keepParts(ctx, jobFolder(j.ID), parts); err != nil {
			return err
		}
	}
	if it["result"], err = t.keepAgain(ctx, jobFolder(j.ID), it["result"], was.Result, j.Result); err != nil {
		return err
	}
	if len(j.Result) == 0 {
		delete(it, "result")
	}
	if err := t.setWait(ctx, it, was, j); err != nil {
		return err
	}
	it["status"], it["owner"] = text(string(j.Status)), text(j.Owner)
	it["started"] = number(millis(j.StartedAt))
	if j.Owner == "" {
		delete(it, "owner")
	}
	jobEntry(j).set(it)
	return nil
}

// jobOf decodes an item.
func (t *table) jobOf(ctx context.Context, it item) (execution.Job, error) {
	j, err := t.stateOf(ctx, it)
	if err == nil && j.Wait != nil && j.Wait.Lost {
		err = &execution.StoreError{Fault: execution.StoreLost, Err: fmt.Errorf("job %s: %w", j.ID, share.ErrAside)}
	}
	if err != nil {
		return j, err
	}
	request, err := t.load(ctx, it["request"])
	if err != nil {
		return j, err
	}
	if j.Request, err = share.DecodeRequest(request); err != nil {
		return j, unreadable("a job", err)
	}
	j.Snapshot, err = t.load(ctx, it["snapshot"])
	return j, err
}

// stateOf decodes an item without its request and its snapshot. Its attributes take precedence over its document,
// because a claim changes only attributes.
func (t *table) stateOf(ctx context.Context, it item) (j execution.Job, err error) {
	doc, err := t.load(ctx, it["doc"])
	if err != nil {
		return j, err
	}
	aside, err := t.load(ctx, it["aside"])
	lost := false
	if errors.Is(err, errMoved) && it["sk"] != nil {
		now, reading := t.get(ctx, key{"pk": it["pk"], "sk": it["sk"]})
		lost = reading == nil && textOf(now["v"]) == textOf(it["v"]) // no other change was faster
	}
	if err != nil && !lost {
		return j, err
	}
	if lost {
		j, err = share.DecodeAlone(doc)
	} else {
		j, err = share.DecodeJob(doc, aside)
	}
	if err != nil {
		return j, unreadable("a job", err)
	}
	j.Status, j.Owner = execution.Status(textOf(it["status"])), textOf(it["owner"])
	j.StartedAt = fromMillis(numberOf(it["started"]))
	if j.Result, err = t.load(ctx, it["result"]); err != nil {
		return j, err
	}
	if err := t.setPriority(ctx, it, &j); err != nil {
		return j, err
	}
	j.SnapshotBytes, err = t.snapshotBytes(ctx, it)
	return j, err
}

// setPriority sets the priority of a request that is not read: the place in the queue depends on it. Items of earlier
// versions have it in their request alone.
func (t *table) setPriority(ctx context.Context, it item, j *execution.Job) error {
	if said := textOf(it["priority"]); said != "" || it["request"] == nil {
		if said != normal {
			j.Request.Priority = said
		}
		return nil
	}
	request, err := t.load(ctx, it["request"])
	if err != nil {
		return err
	}
	r, err := execution.DecodeStored(request)
	if j.Request.Priority = r.Priority; err != nil {
		return unreadable("a job", err)
	}
	return nil
}

// snapshotBytes returns the size of the snapshot of an item. Items of earlier versions do not say how large an object
// is.
func (t *table) snapshotBytes(ctx context.Context, it item) (int, error) {
	if said := it["snapshotBytes"]; said != nil && it["snapshot"] != nil {
		return int(numberOf(said)), nil
	}
	snapshot, err := t.load(ctx, it["snapshot"])
	return len(snapshot), err
}

// unreadable returns the fault of a document that does not parse.
func unreadable(what string, err error) error {
	return &execution.StoreError{Fault: execution.StoreCorrupt, Err: fmt.Errorf("read %s: %w", what, err)}
}

// Submit stores a job durably. A job whose ID exists stays as it is. The error is execution.ErrFull if the tenant has
// too many jobs
// that are queued or paused.
func (s *Store) Submit(ctx context.Context, job execution.Job) error {
	switch {
	case s.cfg.NoJobs:
		return execution.ErrNotKept
	case !validID(job.ID):
		return fmt.Errorf("submit job: %q cannot be part of a key", job.ID)
	}
	if err := room(ctx, s, job.Tenant); err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	job.SnapshotBytes = len(job.Snapshot)
	it := jobKey(job.ID)
	err := s.setJob(ctx, it, execution.Job{}, job)
	size := int64(len(job.Request.Code)) + moving(job)
	for name := range job.Request.Files {
		size += int64(len(name) + len(job.Request.Files[name]))
	}
	size += int64(len(job.Request.Input)) + jobBytes
	until, _ := s.uses.chargedUntil(it)
	if err == nil {
		if err = s.uses.take(ctx, jobCharge(job.Tenant, until, size), s.storage(job.Tenant).Jobs); err != nil {
			s.discard(ctx, it)
		}
	}
	if err == nil {
		it["v"], it["charged"], it["chargedUntil"] = text(token()), number(size), number(millis(until))
		err = s.put(ctx, it, "")
	}
	if errors.Is(err, errMoved) { // it is there: an earlier attempt, or another job
		now, reading := s.get(ctx, jobKey(job.ID))
		if err = reading; err == nil {
			s.discard(ctx, it, now)
			_, err = s.uses.add(ctx, jobCharge(job.Tenant, until, -size))
		}
	}
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	return nil
}

// room counts one more job of a tenant, or returns execution.ErrFull.
func room(ctx context.Context, s *Store, tenant string) error {
	jobs, err := s.tallies.Used(execution.QuotaJobs, tenant, func() (int64, error) {
		queued, err := s.count(ctx, dueIndex(), queuedList, tenantPart(tenant), s.cfg.MaxJobsPerTenant)
		if err != nil {
			return 0, err
		}
		paused, err := s.count(ctx, pausedIndex(), tenantPart(tenant), "job#", s.cfg.MaxJobsPerTenant)
		return int64(queued + paused), err
	})
	if err != nil {
		return err
	}
	if jobs >= int64(s.cfg.MaxJobsPerTenant) {
		return execution.ErrFull
	}
	s.tallies.Add(execution.QuotaJobs, tenant, 1)
	return nil
}

// Job returns a job. The error is execution.ErrNotFound if there is none.
func (s *Store) Job(ctx context.Context, id string) (execution.Job, error) {
	return readJob(ctx, s.table, id, s.jobOf)
}

// JobState returns a job without its request and its snapshot.
func (t *table) JobState(ctx context.Context, id string) (execution.Job, error) {
	return readJob(ctx, t, id, t.stateOf)
}

// JobStatus returns the status of a job.
func (t *table) JobStatus(ctx context.Context, id string) (execution.Status, error) {
	if !validID(id) {
		return "", execution.ErrNotFound
	}
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, Key: jobKey(id), ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("#status"),
		ExpressionAttributeNames: map[string]string{"#status": "status"},
	})
	if err != nil {
		return "", fmt.Errorf("read job: %w", judge(ctx, err))
	}
	if len(out.Item) == 0 {
		return "", execution.ErrNotFound
	}
	return execution.Status(textOf(out.Item["status"])), nil
}

func readJob(ctx context.Context, t *table, id string, decode decoder) (job execution.Job, err error) {
	if !validID(id) {
		return job, execution.ErrNotFound
	}
	before := "" // the token of the item whose content was not there
	for range changes {
		it, err := t.get(ctx, jobKey(id))
		if err != nil {
			return job, fmt.Errorf("read job: %w", err)
		}
		if len(it) == 0 {
			return job, execution.ErrNotFound
		}
		if before != "" && before == textOf(it["v"]) {
			err := fmt.Errorf("job %s: %w", id, execution.ErrContentLost)
			return job, &execution.StoreError{Fault: execution.StoreLost, Err: err}
		}
		before = textOf(it["v"])
		if job, err = decode(ctx, it); !errors.Is(err, errMoved) {
			return job, err
		}
	}
	return job, &execution.StoreError{Fault: execution.StoreBusy, Err: errMoved}
}

// A decoder decodes an item: jobOf or stateOf.
type decoder func(context.Context, item) (execution.Job, error)

// ChangeJob passes a job to fn and stores the result. fn may be called more than once. If fn fails, nothing changes
// and its error is returned.
func (s *Store) ChangeJob(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error) {
	return changeJob(ctx, s, s.jobOf, id, fn)
}

// ChangeJobState does what ChangeJob does, with a job without its request and its snapshot. The snapshot stays as it is
// unless fn sets another.
func (s *Store) ChangeJobState(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error) {
	return changeJob(ctx, s, s.stateOf, id, fn)
}

func changeJob(ctx context.Context, s *Store, decode decoder, id string, fn func(*execution.Job) error) (
	execution.Job, error) {
	var job execution.Job
	if !validID(id) {
		return job, execution.ErrNotFound
	}
	var grew int64
	var until time.Time
	var result charge
	var owner string
	err := s.change(ctx, jobKey(id), token(), s.claimedItem(id), func(it item, there bool) (err error) {
		if !there {
			return execution.ErrNotFound
		}
		if job, err = decode(ctx, it); err != nil {
			return err
		}
		was := job
		owner = was.Owner
		if err := fn(&job); err != nil {
			return err
		}
		if err := share.MayWrite(job); err != nil {
			return err
		}
		if len(job.Snapshot) > 0 || len(was.Snapshot) > 0 {
			job.SnapshotBytes = len(job.Snapshot)
		}
		if job.Cancel && !was.Cancel && job.Status == execution.Running {
			if err := s.tellOwner(ctx, job); err != nil {
				return err
			}
		}
		charged, lapsed := numberOf(it["charged"]), false
		grew = moving(job) - moving(was)
		if until, lapsed = s.uses.chargedUntil(it); lapsed {
			charged, grew = 0, moving(job)
		}
		if job.Ended() {
			grew = -charged
		}
		if err := s.uses.roomToGrow(ctx, job, grew); err != nil {
			return err
		}
		it["charged"], it["chargedUntil"] = number(charged+grew), number(millis(until))
		result = s.uses.resultCharge(it, was, job)
		return s.setJob(ctx, it, was, job)
	})
	if err == nil && (grew != 0 || result.bytes != 0) {
		// The job has changed. If the addition fails, what is counted wrongly lapses.
		used, err := s.uses.add(ctx, jobCharge(job.Tenant, until, grew), result)
		if err == nil && result.bytes > 0 {
			s.uses.makeRoomForResults(ctx, job, used)
		}
	}
	if err == nil && job.Status != execution.Running {
		s.letGo(owner)
	}
	return job, err
}

// tellOwner asks the owner of a job to stop it. It is called before the change, and Cancelled checks the job.
func (s *Store) tellOwner(ctx context.Context, job execution.Job) error {
	process, _, _ := strings.Cut(job.Owner, ".")
	it := keyOf("cancel#"+process, job.ID)
	it["v"], it["expires"] = text(token()), number(s.cfg.Now().Add(24*time.Hour).Unix())
	err := s.put(ctx, it, "")
	if errors.Is(err, errMoved) {
		return nil // it was asked already
	}
	return err
}

// Cancelled returns the IDs of this process's running jobs that are to be stopped.
func (s *Store) Cancelled(ctx context.Context) (ids []string, err error) {
	var told []string
	err = s.below(ctx, "cancel#"+s.id, "", 100, func(it item) (bool, error) {
		told = append(told, textOf(it["sk"]))
		return len(told) < 100, nil
	})
	if err != nil {
		return nil, err
	}
	for _, id := range told {
		job, err := s.JobState(ctx, id)
		if err != nil && !errors.Is(err, execution.ErrNotFound) {
			return ids, err
		}
		process, _, _ := strings.Cut(job.Owner, ".")
		switch mine := err == nil && job.Status == execution.Running && process == s.id; {
		case mine && job.Cancel:
			ids = append(ids, id)
		case !mine:
			if err := s.remove(ctx, keyOf("cancel#"+s.id, id)); err != nil {
				return ids, err
			}
		}
	}
	return ids, nil
}
