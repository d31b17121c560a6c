package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// Replayed is the result of replaying a recorded execution.
type Replayed struct {
	Result execution.Result
	// Differences lists the differences from the record, one line each.
	Differences []string
}

// Replay runs a recorded execution again. Its host calls are answered from the journal in the record; nothing outside
// is reached and nothing is recorded. A later segment of an execution that paused, or a later step of a session, begins
// with the state that earlier leads to: the records of audit.Earlier, which are replayed first. Replay fails if a
// record has no request or no complete journal, if nothing ran, if the execution was cancelled, or if the current
// policy refuses it.
func (r *Runner) Replay(ctx context.Context, rec audit.Record, earlier ...audit.Record) (Replayed, error) {
	begins := append(slices.Clip(earlier), rec)[0]
	if max(begins.Segment, begins.Step, 1) > 1 && !begins.Restarted {
		return Replayed{}, fmt.Errorf("%s continues an earlier execution, whose record is missing", begins.ID)
	}
	var state played
	for _, e := range earlier {
		again, err := r.replayOne(ctx, e, &state)
		if err == nil && len(again.Differences) > 0 {
			err = fmt.Errorf("it differs from its record: %s", strings.Join(again.Differences, "; "))
		}
		if err == nil && state.snapshot == nil {
			err = errors.New("it ended, and nothing can continue it")
		}
		if err != nil {
			return Replayed{}, fmt.Errorf("it continues %s, which cannot be replayed: %w", e.ID, err)
		}
	}
	return r.replayOne(ctx, rec, &state)
}

// played holds the results of a replayed execution.
type played struct {
	snapshot []byte
	used     execution.Usage // by all segments
}

// replayOne replays an execution from the state that the one before it led to, and sets that state.
func (r *Runner) replayOne(ctx context.Context, rec audit.Record, state *played) (Replayed, error) {
	if err := governance.Replayable(rec); err != nil {
		return Replayed{}, err
	}
	journal, err := journalOf(rec)
	if err != nil {
		return Replayed{}, err
	}
	q, err := execution.DecodeRequest(rec.Request)
	if err != nil {
		return Replayed{}, fmt.Errorf("the request in the record: %w", err)
	}
	if rec.Via == execution.ViaHook { // an earlier release may have recorded credentials
		q.Input = webhook.WithoutCredentials(q.Input)
	}
	journal.Seeded = q.Seed != nil
	of := execution.Segments{Waits: waited(rec)}
	switch {
	case rec.Session != "":
		of.Session = &execution.SessionStep{Snapshot: state.snapshot}
		of.Session.ID, of.Session.Step = rec.Session, rec.Step
	case rec.Parent != "":
		of.Resume = &execution.Resume{Parent: rec.Parent, Segment: rec.Segment, Snapshot: state.snapshot, Used: state.used}
	}
	o := &outcome{inv: execution.Invocation{ID: rec.ID, Request: q, Caller: execution.Caller(rec.Caller), Via: rec.Via,
		ReceivedAt: rec.Time, Segments: of}, now: r.cfg.Now}
	if f := rec.Function; f != nil {
		o.inv.Function = &execution.FunctionRef{Name: f.Name, Version: f.Version}
	}
	if o.codeSHA256, err = r.sources.complete(&o.inv); err != nil {
		return Replayed{}, err
	}
	o.decision = r.cfg.Policy.Decide(governance.PolicyRequest(o.inv))
	if o.decision.Effect != policy.Allow {
		return Replayed{}, fmt.Errorf("the policy now refuses it: %v", o.decision.Violations)
	}
	if err := o.narrow(); err != nil {
		return Replayed{}, err
	}
	of = o.inv.Segments
	grants, err := r.grantsOf(o.decision.Grants, q, o.inv.Segments, replayedCalls{})
	if err != nil {
		return Replayed{}, err
	}
	grants.Replay = &journal
	engine, err := r.engineOf(ctx, rec)
	if err != nil {
		return Replayed{}, err
	}
	out, err := segment(ctx, engine, of, scriptOf(o.inv), grants)
	if reason, is := unresumable(err, of.Session != nil); is {
		return Replayed{}, errors.New(reason)
	}
	if err != nil {
		return Replayed{}, fmt.Errorf("the sandbox could not run the code: %w", err)
	}
	result := o.result(out)
	*state = played{snapshot: result.Snapshot, used: result.Usage}
	result.DurationMs, result.Usage = of.Resume.Share(result) // a record has the usage of its segment
	result.APICallCount, result.Snapshot = result.Usage.APICalls, nil
	differences := rec.Differences(outcomeOf(result))
	if again := packagesOf(out.Packages); !slices.Equal(again, rec.Packages) {
		differences = append(differences, fmt.Sprintf("packages: %s, recorded %s", named(again), named(rec.Packages)))
	}
	return Replayed{Result: result, Differences: differences}, nil
}

// waited reports whether a recorded execution could wait.
func waited(rec audit.Record) bool {
	var granted struct {
		Waits *struct{} `json:"waits"`
	}
	return json.Unmarshal(rec.Grants, &granted) == nil && granted.Waits != nil
}

// named lists packages in one line.
func named(packages []audit.Package) string {
	var out []string
	for _, p := range packages {
		out = append(out, fmt.Sprintf("%s@%s (%.20s…)", p.Name, p.Version, p.Integrity))
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

// firstBuild ran every execution whose record names no build.
const firstBuild = "quickjs-ng-0.10.1"

// engineOf returns the engine of the build that a record names: other builds count other ticks.
func (r *Runner) engineOf(ctx context.Context, rec audit.Record) (Sandbox, error) {
	build := cmp.Or(rec.EngineBuild, firstBuild)
	if build == cmp.Or(r.cfg.EngineBuild, build) {
		return r.cfg.Sandbox, nil
	}
	if r.cfg.OpenBuild == nil {
		return nil, fmt.Errorf("it ran on the engine build %s; set ENGINE_BUILD to it and replay again", build)
	}
	engine, err := r.cfg.OpenBuild(ctx, build)
	if err != nil {
		return nil, fmt.Errorf("it ran on the engine build %s, which cannot be opened: %w", build, err)
	}
	return engine, nil
}

// journalOf returns a record's journal. A pure execution has none: its seed and time are enough.
func journalOf(rec audit.Record) (sandbox.Journal, error) {
	var j sandbox.Journal
	if len(rec.Journal) == 0 {
		if rec.Seed == nil {
			return j, errors.New("its function ended without a response, so its seed is unknown")
		}
		j.Seed, j.Ticks, j.Limit = *rec.Seed, rec.Usage.Ticks, sandbox.Limit(rec.Limit)
		j.Events = []sandbox.JournalEvent{{Kind: "clock", At: rec.Time.UnixNano(), Count: 1}}
		return j, nil
	}
	if err := json.Unmarshal(rec.Journal, &j); err != nil {
		return j, fmt.Errorf("the journal in the record: %w", err)
	}
	if j.Truncated {
		return j, errors.New("its journal grew too large and was cut")
	}
	return j, nil
}

// outcomeOf returns the parts of a result that replay compares with the record.
func outcomeOf(result execution.Result) audit.Outcome {
	o := audit.Outcome{
		Status: string(result.Status), Result: result.Result, OutputBytes: result.Usage.OutputBytes,
		Ticks:    result.Usage.Ticks,
		APICalls: result.Usage.APICalls,
		ExitCode: result.ExitCode,
	}
	if result.Error != nil {
		o.Error = *result.Error
	}
	if result.Limit != nil {
		o.Limit = *result.Limit
	}
	return o
}

// replayed answers an invocation that carries a record to replay.
func (r *Runner) replayed(ctx context.Context, inv execution.Invocation) (execution.Result, error) {
	var all []audit.Record
	text := inv.Replay
	if text[0] != '[' {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	if err := json.Unmarshal(text, &all); err != nil || len(all) == 0 {
		return execution.Result{}, &execution.Error{Code: execution.InvalidRequest, Field: "replay",
			Message: "must be the record of an execution, or a list of records"}
	}
	rec := all[len(all)-1]
	again, err := r.Replay(ctx, rec, all[:len(all)-1]...)
	var public *execution.Error
	switch {
	case errors.As(err, &public):
		return execution.Result{}, public
	case err != nil:
		return execution.Result{}, &execution.Error{Code: execution.InvalidRequest, Field: "replay", Message: err.Error()}
	}
	r.cfg.Log.InfoContext(ctx, "execution replayed; nothing is recorded", "id", inv.ID, "of", rec.ID, "differences",
		len(again.Differences))
	again.Result.ID = inv.ID
	return again.Result, nil
}
