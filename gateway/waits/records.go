package waits

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
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
		Seq: p.Seq, Kind: p.Kind, Tool: p.Tool, Name: p.Name, Decision: v.Decision, Reason: v.Reason, ArgsSHA256: sum(args),
		ValueSHA256: sum(v.Value),
	}
	return r
}

// EndRecord returns the audit record of the ending of a job.
func EndRecord(j execution.Job) audit.Record {
	e := j.Wait.Ending
	r := record(j, e.Record, e.By, e.At)
	r.Status, r.Error = string(e.Status), e.Reason
	return r
}

func record(j execution.Job, id string, by execution.Caller, at time.Time) audit.Record {
	source := j.Request.Main()
	r := audit.Record{
		ID: id, Time: at.UTC(), Caller: audit.Caller(by), Via: execution.ViaHTTP, CodeSHA256: sum([]byte(source)),
		CodeBytes: len(source), Language: j.Request.MainLanguage(), Policy: j.Wait.Tier, Engine: "quickjs",
		EngineBuild: j.Wait.EngineBuild, Custody: []audit.Step{{Step: audit.Received}, {Step: audit.Recorded}},
		Lineage: audit.Lineage{Parent: j.ID, Segment: j.Wait.Segment},
	}
	if j.Wait.Session != nil {
		r.Lineage = audit.Lineage{Session: j.ID, Step: j.Wait.Segment}
	}
	if f := j.Function; f != nil {
		r.Function = &audit.FunctionRef{Name: f.Name, Version: f.Version}
	}
	return r
}

// sum returns the SHA-256 of b in hexadecimal; "" for nil.
func sum(b []byte) string {
	if b == nil {
		return ""
	}
	hash := sha256.Sum256(b)
	return hex.EncodeToString(hash[:])
}
