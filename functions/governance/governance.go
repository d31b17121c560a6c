package governance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
)

// PolicyRequest returns what an invocation asks of the policy.
func PolicyRequest(inv execution.Invocation) policy.Request {
	q, sum := inv.Request, inv.Content
	if sum == "" {
		sum = q.Sources().Sum()
	}
	f := q.Facts()
	return policy.Request{
		Code: q.Main(), Entry: q.Entry, Language: q.MainLanguage(), Files: f.Files, Sum: sum, Saved: inv.Function != nil,
		Scanned: inv.Scanned,
		Waits:   inv.Waits,
		Tier:    q.Policy, Engine: q.Engine, QuickJSOnly: quickJSOnly(inv),
		Limits: policy.Limits{
			Timeout: f.Timeout, CPU: f.CPU, MemoryBytes: f.MemoryBytes,
			OutputBytes: q.Limits.OutputBytes, LogEntries: q.Limits.LogEntries, APICalls: q.Limits.APICalls,
		},
		Hosts: q.Hosts, Secrets: q.Secrets, Tools: f.Tools, Globals: f.Globals,
		Subject: inv.Caller.Subject, Tenant: inv.Caller.Tenant, Scopes: inv.Scopes,
	}
}

// Adjusted returns the limits of a request that were above the granted ones, and were lowered.
func Adjusted(q execution.Request, g policy.Grants) []execution.Adjustment {
	var out []execution.Adjustment
	lowered := func(field string, requested, allowed float64) {
		if requested > allowed {
			out = append(out, execution.Adjustment{Field: field, Requested: requested, Allowed: allowed})
		}
	}
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	lowered("timeout", q.Timeout, milliseconds(g.Timeout))
	if n, err := execution.ParseMemory(q.Memory); err == nil {
		lowered("memory", float64(n), float64(g.MemoryBytes))
	}
	lowered("limits.cpuMs", q.Limits.CPUMs, milliseconds(g.CPU))
	lowered("limits.outputBytes", float64(q.Limits.OutputBytes), float64(g.OutputBytes))
	lowered("limits.logEntries", float64(q.Limits.LogEntries), float64(g.LogEntries))
	lowered("limits.apiCalls", float64(q.Limits.APICalls), float64(g.APICalls))
	lowered("limits.fetchBytes", float64(q.Limits.FetchBytes), MaxFetchBytes)
	lowered("limits.fileBytes", float64(q.Limits.FileBytes), MaxFileBytes)
	return out
}

// The most that a request may ask for, whatever its tier. They are also the sandbox's defaults.
const (
	MaxFetchBytes = 10 << 20 // of bodies, sent and received
	MaxFileBytes  = 16 << 20 // in the file system of the execution
)

// Blocked returns the result of an execution that the policy refused: status, error line and violations.
func Blocked(d *policy.Decision) execution.Result {
	line := "blocked by policy"
	if len(d.Violations) > 0 {
		line += ": " + d.Violations[0]
	}
	return execution.Result{Status: execution.Blocked, Failure: execution.Failure{Error: &line}, Violations: d.Violations}
}

// Decided returns a decision as the contract carries it, for an invoker that writes the record.
func Decided(d *policy.Decision) execution.Decision {
	return execution.Decision{
		Grants: Encode(d.Grants), DangerAnalysis: Encode(d.Analysis), ASTTelemetry: Encode(d.Telemetry),
		Reasons: d.ReasonLines(),
	}
}

// Record returns the audit record of an execution: what was asked, decided and answered. codeSHA256 is the hash of the
// code that ran. The caller adds what only it knows: OutputBytes, Custody, Seed, Journal and Reused. The code and the
// request are kept if keepCode is set. A nil decision leaves out what was decided.
func Record(
	inv execution.Invocation, d *policy.Decision, r execution.Result, codeSHA256 string, keepCode bool,
) audit.Record {
	source := inv.Request.Main()
	durationMs, usage := inv.Resume.Share(r)
	record := audit.Record{
		ID: inv.ID, Time: inv.ReceivedAt.UTC(), DurationMs: durationMs, Caller: audit.Caller(inv.Caller), Via: inv.Via,
		Source: audit.Source{CodeSHA256: codeSHA256, CodeBytes: len(source), Language: inv.Request.MainLanguage()},
		Policy: r.Policy, Engine: r.Engine, EngineBuild: r.EngineBuild,
		Ending: audit.Ending{Status: string(r.Status), ExitCode: r.ExitCode, Usage: audit.Usage(usage)},
	}
	if d != nil {
		record.Grants, record.Reasons = Encode(d.Grants), d.ReasonLines()
		record.DangerAnalysis, record.ASTTelemetry = r.DangerAnalysis, Encode(d.Telemetry)
	}
	if s := inv.Resume; s != nil {
		record.Parent, record.Segment = s.Parent, s.Segment
	}
	if s := inv.Session; s != nil {
		record.Session, record.Step, record.Restarted, record.ForkOf = s.ID, s.Step, s.Restarted, s.ForkOf
	}
	if f := inv.Function; f != nil {
		record.Function = &audit.FunctionRef{Name: f.Name, Version: f.Version}
	}
	if r.Limit != nil {
		record.Limit = *r.Limit
	}
	if r.Error != nil {
		record.Error = *r.Error
	}
	if len(r.Result) > 0 {
		record.ResultSHA256 = Hash(r.Result)
	}
	if keepCode {
		record.Code, record.Request = source, Encode(inv.Request)
	}
	return record
}

// Result rebuilds the result of an execution from its audit record. Records hold neither values nor output, so both are
// empty.
func Result(r audit.Record) execution.Result {
	result := execution.Result{
		ID: r.ID, Status: execution.Status(r.Status),
		Environment: execution.Environment{Engine: r.Engine, EngineBuild: r.EngineBuild, Policy: r.Policy},
		DurationMs:  r.DurationMs, Logs: []execution.Log{}, Usage: execution.Usage(r.Usage),
		DangerAnalysis: r.DangerAnalysis, Violations: []string{}, APICallCount: r.Usage.APICalls,
	}
	if r.Error != "" {
		result.Error = &r.Error
	}
	if r.Limit != "" {
		result.Limit = &r.Limit
	}
	result.ExitCode = r.ExitCode
	if f := r.Function; f != nil {
		result.Function = &execution.FunctionRef{Name: f.Name, Version: f.Version}
	}
	return result
}

// Hash returns the SHA-256 of b in hexadecimal.
func Hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Encode returns v as JSON. Callers pass only types whose encoding cannot fail; if one fails nevertheless, it is null.
func Encode(v any) json.RawMessage {
	b, err := audit.Encode(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
