package waits

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
)

// DecisionRecord returns the audit record of the verdict about an operation of a job.
func DecisionRecord(j execution.Job, p execution.Pending) audit.Record {
	v := p.Verdict
	r := record(j, v.Record, v.By, v.At)
	r.Status = audit.DecidedStatus
	args := v.Args
	if v.Decision == execution.Approve {
		args = p.Args
	}
	r.Decision = &audit.Decision{
		Seq: p.Seq, Kind: p.Kind, Tool: p.Tool, Name: p.Name, Decision: v.Decision, Reason: v.Reason,
		ArgsSHA256: cmp.Or(v.ArgsSHA256, sum(args)), ValueSHA256: cmp.Or(v.ValueSHA256, sum(v.Value)),
	}
	return r
}

// EndRecord returns the audit record of the ending of a job.
func EndRecord(j execution.Job) audit.Record {
	e := j.Wait.Ending
	r := record(j, e.Record, e.By, e.At)
	r.Status, r.Error = string(e.Status), e.Reason
	if e.Code != nil {
		r.CodeSHA256, r.CodeBytes = e.Code.SHA256, e.Code.Bytes
	}
	return r
}

// Unstored returns the job that ends an execution whose record says that it paused, but that no store holds. id becomes
// the ID of the record of its end.
func Unstored(r audit.Record, id string, now time.Time) execution.Job {
	now = now.UTC()
	by := execution.Caller(r.Caller)
	j := execution.Job{
		ID: r.ID, Tenant: by.Tenant, Subject: by.Subject, Kinds: true, IP: by.IP, Via: r.Via, ReceivedAt: r.Time,
		Status: execution.Paused, Times: execution.Times{StartedAt: r.Time},
		Request: execution.Request{Code: r.Code, Language: r.Language},
	}
	if f := r.Function; f != nil {
		j.Function = &execution.FunctionRef{Name: f.Name, Version: f.Version}
	}
	j.Wait = &execution.Wait{
		Segment: 1, Run: r.ID, Since: now, Changed: now, ExpiresAt: now, DueAt: now, Tier: r.Policy,
		EngineBuild: r.EngineBuild, Ending: &execution.Ending{
			Status: execution.Failed, By: by, At: now, Record: id,
			Reason: "the execution has ended: it paused, and its gateway died before it stored the execution",
			Code:   &execution.CodeSum{SHA256: r.CodeSHA256, Bytes: r.CodeBytes},
		},
	}
	return j
}

// The errors of attempts whose process died.
const (
	lostSegment = "the process that ran this segment died before it recorded the segment; the segment runs again"
	lostStep    = "the process that ran this step died before it recorded the step; the session is as it was before"
)

// LostRecord returns the record of an attempt at a segment of a job, or at a step of a session, whose process died
// before it wrote a record. What the attempt did is not known. A job that has never paused runs again under its own ID,
// and a step may still end under its own ID. The record of such an attempt therefore has an ID derived from that one.
func LostRecord(j execution.Job, now time.Time) audit.Record {
	id, line := j.RunID(), lostSegment
	switch at, _ := audit.IDTime(id); {
	case j.Wait == nil:
		id = attemptID(id, j.StartedAt)
	case j.Wait.Session != nil:
		id, line = attemptID(id, at), lostStep
	}
	if at, ok := audit.IDTime(id); ok { // records are filed by the time in their ID
		now = at
	}
	r := record(j, id, execution.Caller{Subject: j.Subject, Tenant: j.Tenant, IP: j.IP}, now)
	r.Via, r.Status, r.Error = j.Via, string(execution.Failed), line
	if r.Session != "" {
		r.Step++
	}
	return r
}

// attemptID returns the ID of the record of an attempt at the execution with an ID, which is always the same.
func attemptID(run string, at time.Time) string {
	hash := sha256.Sum256(fmt.Append(nil, run, " ", at.UnixMilli()))
	var id ulid.ULID
	if id.SetTime(ulid.Timestamp(at)) != nil || id.SetEntropy(hash[:10]) != nil {
		return "exec_" + hex.EncodeToString(hash[:])
	}
	return "exec_" + id.String()
}

// lost reports whether a record is a LostRecord. In records of segments that ran, code determines the error, and
// custody has further steps.
func lost(r audit.Record) bool { return r.Error == lostSegment && len(r.Custody) == 2 }

// processLost reports whether a record says that only the function's process died. A gateway wrote it then: records of
// code that ran have the build of the engine, so code cannot determine both.
func processLost(r audit.Record) bool { return r.Error == execution.ProcessLost && r.EngineBuild == "" }

func record(j execution.Job, id string, by execution.Caller, at time.Time) audit.Record {
	w := j.Wait
	if w == nil {
		w = &execution.Wait{Segment: 1, Tier: cmp.Or(j.Request.Policy, policy.DefaultTier)}
	}
	code := w.Code
	if code == nil {
		code = codeOf(j.Request)
	}
	r := audit.Record{
		ID: id, Time: at.UTC(), Caller: audit.Caller(by), Via: execution.ViaHTTP,
		Source: audit.Source{
			CodeSHA256: code.SHA256, CodeBytes: code.Bytes, Language: code.Language,
		},
		Policy: w.Tier, Engine: "quickjs",
		EngineBuild: w.EngineBuild, Custody: []audit.Step{{Step: audit.Received}, {Step: audit.Recorded}},
		Lineage: audit.Lineage{Parent: j.ID, Segment: w.Segment},
	}
	if w.Session != nil {
		r.Lineage = audit.Lineage{Session: j.ID, Step: w.Segment}
	}
	if f := j.Function; f != nil {
		r.Function = &audit.FunctionRef{Name: f.Name, Version: f.Version}
	}
	return r
}

// codeOf identifies the code of a request.
func codeOf(r execution.Request) *execution.CodeSum {
	source := r.Main()
	return &execution.CodeSum{SHA256: sum([]byte(source)), Bytes: len(source), Language: r.MainLanguage()}
}

// sum returns the SHA-256 of b in hexadecimal; "" for nil.
func sum(b []byte) string {
	if b == nil {
		return ""
	}
	hash := sha256.Sum256(b)
	return hex.EncodeToString(hash[:])
}
