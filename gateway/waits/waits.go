package waits

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/audit"
)

// A Refusal says why a change does not apply to a paused execution. Nothing was changed.
type Refusal struct {
	// Invalid marks a decision that could never apply. Any other refusal is due to the state of the execution.
	Invalid bool
	Reason  string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Reason }

func refuse(format string, args ...any) error { return &Refusal{Reason: fmt.Sprintf(format, args...)} }

func invalid(format string, args ...any) error {
	return &Refusal{Invalid: true, Reason: fmt.Sprintf(format, args...)}
}

// Park pauses a job that was running with what its segment waits for. Answers that came meanwhile to what it still
// waits for are kept. maxAge is how long the execution may exist after its first pause. The snapshot is stored by the
// caller.
func Park(j *execution.Job, r execution.Result, maxAge time.Duration, now time.Time) {
	now = now.UTC()
	w := execution.Wait{Segment: 1, Run: j.ID, Since: now, ExpiresAt: now.Add(maxAge)}
	if j.Wait != nil {
		since, expires := w.Since, w.ExpiresAt
		w = *j.Wait
		if w.Since.IsZero() { // its first pause was lost with its process
			w.Since, w.ExpiresAt = since, expires
		}
	}
	before := w.Pending
	if w.Code == nil && w.Session == nil {
		w.Code = codeOf(j.Request)
	}
	w.Changed = now
	w.Pending, w.Tier, w.EngineBuild, w.Used = nil, r.Policy, r.EngineBuild, r.Usage
	for _, waiting := range r.Waiting {
		p := execution.Pending{Waiting: waiting}
		if waiting.Kind != execution.WaitSleep && (p.ExpiresAt.IsZero() || p.ExpiresAt.After(w.ExpiresAt)) {
			p.ExpiresAt = w.ExpiresAt
		}
		for _, old := range before {
			if old.Seq == p.Seq && !old.Sent {
				p.Verdict, p.Answer, p.Apart = old.Verdict, old.Answer, old.Apart
			}
		}
		w.Pending = append(w.Pending, p)
	}
	j.Wait, j.Status, j.Owner = &w, execution.Paused, ""
	j.Wait.DueAt = dueAt(&w, now)
}

// dueAt returns the time at which a paused execution needs attention next.
func dueAt(w *execution.Wait, now time.Time) time.Time {
	due := w.ExpiresAt
	if w.Ending != nil {
		if in := w.Session; in != nil && in.Runs(now) {
			return in.Until.UTC() // its step ends before
		}
		return now.UTC()
	}
	for _, p := range w.Pending {
		switch {
		case p.Answer != nil && !p.Sent:
			return now.UTC()
		case p.Answer != nil:
		case p.Kind == execution.WaitSleep && p.DueAt.Before(due):
			due = p.DueAt
		case p.Kind == execution.WaitEvent && p.ExpiresAt.Before(due):
			due = p.ExpiresAt
		}
	}
	return due.UTC()
}

// waiting returns an error unless an execution has paused and has not ended.
func waiting(j *execution.Job) error {
	switch {
	case j.Wait == nil || j.Ended():
		return refuse("the execution does not wait: its status is %s", j.Status)
	case j.Wait.Ending != nil:
		return refuse("the execution does not wait: it is %s", j.Wait.Ending.Status)
	}
	return nil
}

// open returns the operation with a number if nothing has answered it.
func open(j *execution.Job, seq int) (*execution.Pending, error) {
	if err := waiting(j); err != nil {
		return nil, err
	}
	for i := range j.Wait.Pending {
		p := &j.Wait.Pending[i]
		switch {
		case p.Seq != seq:
		case p.Verdict != nil:
			return nil, refuse("operation %d has been decided: %s", seq, p.Verdict.Decision)
		case p.Answer != nil:
			return nil, refuse("operation %d has ended", seq)
		default:
			return p, nil
		}
	}
	return nil, refuse("the execution does not wait for an operation %d", seq)
}

// Decide applies verdicts to the operations with their numbers, all of them or none.
func Decide(j *execution.Job, verdicts map[int]execution.Verdict, now time.Time) error {
	if err := waiting(j); err != nil {
		return err
	}
	wait := j.Wait.Clone()
	size := 0
	for _, v := range verdicts {
		size += len(v.Args) + len(v.Value)
	}
	if err := room(wait, size); err != nil {
		return err
	}
	changed := *j
	changed.Wait = wait
	for seq, v := range verdicts {
		p, err := open(&changed, seq)
		if err != nil {
			return err
		}
		answer, err := answerTo(p, v)
		if err != nil {
			return err
		}
		if !now.Before(wait.ExpiresAt) {
			return refuse("the execution has expired")
		}
		p.Verdict, p.Answer = brief(v), &answer
	}
	wait.DueAt = dueAt(wait, now)
	*j = changed
	return nil
}

// maxAnswers bounds the values in the answers that an execution has not continued with, in bytes.
const maxAnswers = 1 << 20

// room returns an error if answers with values of a size are too much for a paused execution now. It always has room
// for its first answer.
func room(w *execution.Wait, size int) error {
	before := 0
	for _, p := range w.Pending {
		before += p.Apart.Bytes()
	}
	before += inside(w)
	if before > 0 && before+size > maxAnswers {
		return refuse("the execution has not consumed earlier answers yet, and all of them would exceed %d bytes "+
			"together; try again later", maxAnswers)
	}
	return nil
}

// answerTo returns the answer that a verdict gives to an operation.
func answerTo(p *execution.Pending, v execution.Verdict) (execution.Answer, error) {
	a := execution.Answer{Seq: p.Seq}
	if p.Kind != execution.WaitApproval && p.Kind != execution.WaitTool {
		return a, invalid("operation %d is of kind %s, which nobody decides", p.Seq, p.Kind)
	}
	toApprove := p.Kind == execution.WaitApproval && p.Tool != ""
	switch v.Decision {
	case execution.Approve:
		switch {
		case toApprove:
			a.Call = true
		case p.Kind == execution.WaitApproval && p.Schema != nil:
			return a, invalid("operation %d asks for a value: respond with one that fits its schema, or reject it", p.Seq)
		case p.Kind == execution.WaitApproval:
			a.Value = json.RawMessage("true")
		default:
			return a, invalid("operation %d is a call whose answer comes from outside; respond to it, or reject it", p.Seq)
		}
	case execution.Edit:
		if !toApprove {
			return a, invalid("operation %d has no arguments to edit", p.Seq)
		}
		a.Call, a.Args = true, v.Args
	case execution.Respond:
		a.Value = v.Value
	case execution.Reject:
		a.Error, a.ErrorName = "the request was rejected", "RejectedError"
		if v.Reason != "" {
			a.Error += ": " + v.Reason
		}
	default:
		return a, invalid("the decision must be approve, edit, respond or reject")
	}
	return a, nil
}

// Signal answers the operation that has waited longest for an event of a name. v holds who sent the event, when, and
// its value.
func Signal(j *execution.Job, name string, v execution.Verdict, now time.Time) error {
	if err := waiting(j); err != nil {
		return err
	}
	wait := j.Wait.Clone()
	if err := room(wait, len(v.Value)); err != nil {
		return err
	}
	for i := range wait.Pending {
		p := &wait.Pending[i]
		if p.Kind == execution.WaitEvent && p.Name == name && p.Answer == nil && now.Before(p.ExpiresAt) {
			v.Decision = execution.Signal
			p.Verdict, p.Answer = brief(v), &execution.Answer{Seq: p.Seq, Value: v.Value}
			wait.DueAt = dueAt(wait, now)
			j.Wait = wait
			return nil
		}
	}
	return refuse("the execution does not wait for the event %q", name)
}

// End ends a paused execution that will not run again. Its caller writes the record and then ends the job. It has no
// effect on an execution that is ending already.
func End(j *execution.Job, e execution.Ending, now time.Time) error {
	if j.Wait != nil && j.Wait.Ending != nil {
		return nil
	}
	if j.Status != execution.Paused {
		return refuse("the execution does not wait: its status is %s", j.Status)
	}
	wait := j.Wait.Clone()
	wait.Ending = &e
	wait.DueAt = dueAt(wait, now)
	j.Wait = wait
	return nil
}

// justNow is how long a job that is due may keep the time since which it is. After that it gets another one, and with
// it a place behind those that are due, too.
const justNow = time.Second

// Elapse answers the operations whose time is over. It reports whether it has changed the job, and whether a paused
// execution has expired, in which case the caller ends the job.
func Elapse(j *execution.Job, now time.Time) (changed, expired bool) {
	if j.Status != execution.Paused || j.Wait.Ending != nil {
		return false, false
	}
	wait := j.Wait.Clone()
	for i := range wait.Pending {
		p := &wait.Pending[i]
		switch {
		case p.Answer != nil:
		case p.Kind == execution.WaitSleep && !now.Before(p.DueAt):
			p.Answer, changed = &execution.Answer{Seq: p.Seq}, true
		case p.Kind == execution.WaitEvent && p.ExpiresAt.Before(wait.ExpiresAt) && !now.Before(p.ExpiresAt):
			p.Answer = &execution.Answer{Seq: p.Seq, Error: "the event " + p.Name + " has not come in time",
				ErrorName: "TimeoutError"}
			changed = true
		}
	}
	wait.DueAt = dueAt(wait, now)
	if was := j.Wait.DueAt; !changed && !was.After(now) && wait.DueAt.Sub(was) < justNow {
		wait.DueAt = was // it is due already
	}
	changed = changed || !wait.DueAt.Equal(j.Wait.DueAt)
	j.Wait = wait
	return changed, !now.Before(wait.ExpiresAt) && !Answered(*j)
}

// Answered reports whether a paused job has an answer that no segment has received.
func Answered(j execution.Job) bool {
	unsent := func(p execution.Pending) bool { return p.Answer != nil && !p.Sent }
	return j.Status == execution.Paused && j.Wait.Ending == nil && slices.ContainsFunc(j.Wait.Pending, unsent)
}

// ErrNotAnswered reports that a job cannot be queued because it has no answer or does not wait.
var ErrNotAnswered = errors.New("the execution has no answer to continue with")

// Queue queues the next segment of an answered job, with the answers to the operations with the given numbers. run
// becomes the ID of the segment's record.
func Queue(j *execution.Job, run string, seqs map[int]bool, now time.Time) error {
	if !Answered(*j) {
		return ErrNotAnswered
	}
	wait := j.Wait.Clone()
	any := false
	for i := range wait.Pending {
		p := &wait.Pending[i]
		p.Sent = p.Answer != nil && seqs[p.Seq]
		any = any || p.Sent
	}
	if !any {
		return ErrNotAnswered
	}
	wait.Segment, wait.Run, wait.Changed, wait.Attempts = wait.Segment+1, run, now.UTC(), 0
	j.Wait, j.Status = wait, execution.Queued
	return nil
}

// maxAttempts is how often a segment may begin again.
const maxAttempts = 10

// Again queues a segment again after its outcome was lost. run becomes the ID of its record. Again returns false, and
// changes nothing, if the segment has begun again maxAttempts times.
func Again(j *execution.Job, run string, now time.Time) bool {
	wait := j.Wait.Clone()
	if wait == nil {
		wait = &execution.Wait{Segment: 1}
	}
	if wait.Attempts == maxAttempts {
		return false
	}
	wait.Run, wait.Changed, wait.Attempts = run, now.UTC(), wait.Attempts+1
	j.Wait, j.Status, j.Owner = wait, execution.Queued, ""
	return true
}

// Repeats reports whether a segment of a job must run again because what its record says it led to was lost: a
// snapshot, the value of an execution that has paused before, or everything, as a process died. r is the record of
// the segment. The tools of an execution that has never paused do not expect the same call twice.
func Repeats(j execution.Job, r audit.Record) bool {
	switch execution.Status(r.Status) {
	case execution.Paused:
		return true
	case execution.Completed:
		return j.Wait != nil
	}
	return lost(r) || Continues(j) && processLost(r)
}

// Continues reports whether the next segment of a job continues from a snapshot.
func Continues(j execution.Job) bool { return j.Wait != nil && j.Wait.Segment > 1 }

// Resume returns what a function needs to run the segment of a job, or nil for a job that has never paused. snapshot is
// decrypted. The error is ErrSealed if the job is not as it was stored.
func Resume(j execution.Job, snapshot []byte) (*execution.Resume, error) {
	if j.Wait == nil {
		return nil, nil
	}
	r := &execution.Resume{Parent: j.ID, Segment: j.Wait.Segment}
	if r.Segment == 1 {
		return r, nil
	}
	r.Snapshot, r.Used, r.EngineBuild = snapshot, j.Wait.Used, j.Wait.EngineBuild
	for _, p := range j.Wait.Pending {
		if !p.Sent {
			continue
		}
		answer, err := answerOf(p, j.Snapshot)
		if err != nil {
			return nil, err
		}
		r.Answers = append(r.Answers, answer)
	}
	return r, nil
}
