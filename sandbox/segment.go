package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/policy/schema"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/journal"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/snapshot"
	"github.com/airlock-run/airlock/sandbox/internal/timers"
	"github.com/airlock-run/airlock/sandbox/internal/tool"
	"github.com/airlock-run/airlock/sandbox/internal/vfs"
)

// A segment is a run that ends with a snapshot or begins with one. A snapshot holds:
//
//	the guest   what its memory has and the library's image has not. Everything in it is hostile, before and after.
//	the host    what the host keeps for the guest: timers, waits, files, output, random numbers, what was used
//
// What the grants give is not in it: operations, tools and the network are bound again by name, from the grants of the
// next segment. Requests, open bodies and open compression streams do not outlast a segment.
type segment struct{ *run }

// Resume runs the next segment of a parked run in a brand-new guest. script is that of the run, and grants are its
// grants or less. Limits count what all segments used together, and so do the Usage, the Output and the Logs of the
// Result. The Journal is of this segment alone. With Grants.Replay, the answers are those of the journal.
//
// The error is ErrEngineChanged, ErrSnapshot, ErrNotPending or ErrAnswer if nothing has run. Any other is the
// platform's.
func (e *Engine) Resume(
	ctx context.Context, from []byte, answers []Answer, script Script, grants Grants,
) (Result, error) {
	e.running.Add(1)
	defer e.running.Add(-1)
	r := e.newRun(ctx, grants)
	defer r.abandon()
	g := segment{r}
	s, err := g.open(from)
	if err != nil {
		return Result{}, err
	}
	if s.Script != hashOfScript(script) {
		return Result{}, fmt.Errorf("%w: it belongs to another script", ErrSnapshot)
	}
	if err := g.takeState(s); err != nil {
		return Result{}, err
	}
	if answers, err = g.decide(answers); err != nil {
		return Result{}, err
	}
	r.step = s.Step
	if err := (importer{r}).prepareSource(script, s.Ahead); err != nil {
		return r.failEarly(err)
	}
	defer r.requests.begin(ctx)()
	end, err := r.grant(script)
	if err != nil {
		return r.failEarly(err)
	}
	defer end()
	in, err := g.restore(s, script)
	if err != nil {
		return g.refused(err)
	}
	defer in.Close()
	if !grants.Eval {
		in.DisableEval()
	}
	return r.ended(in, (&guest{r, in}).goOn(answers))
}

// ended returns the result of a run whose guest has ended or waits.
func (r *run) ended(in *quickjs.Instance, err error) (Result, error) {
	if err == nil || errors.Is(err, errParked) {
		if diverged := r.outside.tape.End(); diverged != nil {
			err = diverged
		}
	}
	if errors.Is(err, errParked) {
		err = segment{r}.park(in)
	}
	if err == nil && r.step > 0 && r.result.Parked == nil {
		err = segment{r}.keepSession(in)
	}
	if err := r.classify(err); err != nil {
		return Result{}, err
	}
	return r.finish(in), nil
}

// refused returns the result of a run whose snapshot exceeds a limit of the run, or the error for an invalid snapshot.
func (g segment) refused(err error) (Result, error) {
	if errors.Is(err, quickjs.ErrDelta) {
		return Result{}, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	return g.failEarly(err)
}

// open decodes a snapshot.
func (g segment) open(from []byte) (*snapshot.State, error) {
	identity, err := snapshot.Identity(from)
	switch {
	case errors.Is(err, snapshot.ErrVersion), err == nil && identity != g.engine.image.Identity():
		return nil, ErrEngineChanged
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	s, err := snapshot.Decode(from, g.grants.Waits.withDefaults().MaxImageBytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	return s, nil
}

// park ends the segment with a snapshot.
func (g segment) park(in *quickjs.Instance) error {
	var wall time.Duration
	text, err := g.snapshot(in, func(s *snapshot.State) { wall = s.Used.Wall })
	if err != nil {
		return err
	}
	g.result.Parked = &Parked{Waiting: g.waits.waiting(), Snapshot: text}
	g.outside.start = time.Now().Add(-wall) // making a snapshot is not the guest's time
	return nil
}

// snapshot returns a snapshot of the run and of its guest. amend may change the state before it is encoded.
func (g segment) snapshot(in *quickjs.Instance, amend func(*snapshot.State)) ([]byte, error) {
	g.outside.taint()
	room := snapshot.Borrow(0)
	defer snapshot.Return(room)
	d, err := in.Delta(*room)
	if err != nil {
		return nil, err
	}
	*room = d.Changes // it may have grown
	s, err := g.state(d)
	if err != nil {
		return nil, err
	}
	amend(s)
	most := g.waits.granted.MaxImageBytes
	text, err := snapshot.Encode(g.image.Identity(), s, most)
	if errors.Is(err, snapshot.ErrTooLarge) {
		return nil, &hostops.LimitError{Limit: string(LimitWaits),
			Message: "the state of the run is larger than the limit of " + bytesText(most) + " for runs that wait"}
	}
	return text, err
}

// facts are the members of a result that say how its run began.
type facts struct {
	Warm         bool        `json:"warm,omitempty"`
	Cold         string      `json:"cold,omitempty"`
	Packages     []PackageID `json:"packages,omitempty"`
	PackagesCold string      `json:"packagesCold,omitempty"`
	// Held are the packages that the guest of a session has.
	Held *heldPackages `json:"held,omitempty"`
	// Live are the exports that the source reads at each use, and Requires the modules of Node that packages require.
	Live     map[string][]string `json:"live,omitempty"`
	Requires []string            `json:"requires,omitempty"`
}

// state returns the state of the run and of its guest, of which d is the memory.
func (g segment) state(d quickjs.Delta) (*snapshot.State, error) {
	res := &g.result
	began := facts{Warm: res.Warm, Cold: res.Cold, Packages: res.Packages, PackagesCold: res.PackagesCold,
		Live: g.live, Requires: g.held.Notes.Requires}
	if g.step > 0 && len(g.held.Keys) > 0 {
		began.Held = &g.held
	}
	told, err := json.Marshal(began)
	if err != nil {
		return nil, err
	}
	now := g.outside.timerClock()
	s := &snapshot.State{
		Script: g.origin.script, Segment: g.segment + 1, Step: g.step, Ahead: g.ahead,
		Stage: snapshot.Stage{Settled: g.stage.settled, HasValue: g.stage.hasValue, LogsDropped: g.stage.logsDropped,
			Steps: g.grants.Debug.Steps},
		Clock: snapshot.Clock{Seed: g.outside.seed, Seeded: g.outside.seeded, Virtual: g.outside.virtual,
			Began: g.outside.began},
		Used: snapshot.Used{Wall: g.outside.elapsed(), CPU: g.cpu.Used(), Calls: g.requests.calls, Held: g.stage.charged,
			Peak: g.memory.Peak()},
		Guest: snapshot.Guest{Size: d.Size, CollectAt: d.CollectAt, Overflow: uint64(d.Overflow),
			Ticks: g.loaded.ticks + d.Ticks, Changes: d.Changes},
		Output: g.output, Lost: slices.Sorted(maps.Keys(g.requests.open)), NextWait: g.waits.next, Waits: g.waits.pending,
		Setup: g.powers.told(), Facts: told,
	}
	if g.outside.stream != nil {
		if s.Clock.Stream, err = g.outside.stream.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	for _, v := range g.rejected {
		s.Guest.Rejected = append(s.Guest.Rejected, uint64(v))
	}
	for _, l := range res.Logs {
		s.Logs = append(s.Logs, snapshot.Log(l))
	}
	for _, t := range g.timers.States(now) {
		s.Timers = append(s.Timers, snapshot.Timer(t))
	}
	if g.powers.files != nil {
		for _, f := range g.powers.files.States() {
			s.Files = append(s.Files, snapshot.File(f))
		}
	}
	if g.powers.client != nil {
		s.Used.FetchBytes = g.powers.client.Transferred()
	}
	return s, nil
}

// takeState makes the run continue where the host's side of s ends.
func (g segment) takeState(s *snapshot.State) error {
	var told facts
	if json.Unmarshal(s.Facts, &told) != nil {
		return fmt.Errorf("%w: its facts are not JSON", ErrSnapshot)
	}
	r := g.run
	r.origin.script, r.segment, r.ahead, r.told, r.live = s.Script, s.Segment, s.Ahead, s.Setup, told.Live
	res := &r.result
	res.Warm, res.Cold, res.Packages, res.PackagesCold = told.Warm, told.Cold, told.Packages, told.PackagesCold
	r.held.Notes.Requires = told.Requires
	if told.Held != nil {
		r.held = *told.Held
	}
	res.Seed = s.Clock.Seed
	o := &r.outside
	o.seed, o.seeded, o.virtual, o.began = s.Clock.Seed, s.Clock.Seeded, s.Clock.Virtual, s.Clock.Began
	o.taint()
	if s.Clock.Stream != nil {
		o.stream = &rand.ChaCha8{}
		if o.stream.UnmarshalBinary(s.Clock.Stream) != nil {
			return fmt.Errorf("%w: its random numbers are not valid", ErrSnapshot)
		}
	}
	if j := r.grants.Replay; j != nil {
		o.tape = journal.Play(j.Events)
	}
	r.waits.next, r.waits.pending, r.requests.lost = s.NextWait, s.Waits, s.Lost
	return nil
}

// goesOn adds the usage of earlier segments to that of the run.
func (g segment) goesOn(s *snapshot.State) {
	r := g.run
	r.stage.settled, r.stage.hasValue, r.stage.logsDropped = s.Stage.Settled, s.Stage.HasValue, s.Stage.LogsDropped
	r.stage.compiled, r.stage.ticks = true, true
	r.outside.start = r.outside.start.Add(-s.Used.Wall)
	r.cpu.Add(s.Used.CPU)
	r.requests.calls, r.output = s.Used.Calls, s.Output
	for _, l := range s.Logs {
		r.result.Logs = append(r.result.Logs, Log(l))
	}
	for _, v := range s.Guest.Rejected {
		r.rejected = append(r.rejected, quickjs.Value(v))
	}
	if r.powers.client != nil {
		r.powers.client.Continue(s.Used.FetchBytes)
	}
}

// restore returns the guest of s, with its timers, files and what the host holds for it. The grants must be made.
func (g segment) restore(s *snapshot.State, script Script) (*quickjs.Instance, error) {
	r := g.run
	if s.Script != noScript {
		g.goesOn(s)
	}
	if s.Stage.Steps {
		r.powers.sync["step"] = r.inspector.op(&r.outside)
	}
	r.ops.Continue(s.Segment)
	r.image = r.engine.image
	in, err := r.image.Restore(r.ctx, r.memory.Budget, r, quickjs.Delta{Size: s.Guest.Size, CollectAt: s.Guest.CollectAt,
		Overflow: quickjs.Value(s.Guest.Overflow), Ticks: s.Guest.Ticks, Changes: s.Guest.Changes})
	if err != nil {
		return nil, err
	}
	r.memory.Continue(s.Used.Peak)
	held := max(s.Used.Held, int64(len(s.Output)))
	for _, x := range s.Waits {
		held += roomOf(x)
	}
	err = r.memory.Charge(held)
	r.stage.charged = s.Used.Held
	if err == nil && r.powers.files != nil && len(s.Files) > 0 {
		err = g.restoreFiles(s, script)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	states := make([]timers.State, 0, len(s.Timers))
	for _, t := range s.Timers {
		t.Loose = t.Loose || s.Script == noScript
		states = append(states, timers.State(t))
	}
	r.timers.Restore(r.outside.timerClock(), states)
	return in, nil
}

func (g segment) restoreFiles(s *snapshot.State, script Script) error {
	states := make([]vfs.State, 0, len(s.Files))
	for _, f := range s.Files {
		states = append(states, vfs.State(f))
	}
	files, ok, err := vfs.Restore(g.powers.files.Config, states, script.Files)
	if err == nil && ok && s.Script == noScript {
		err = files.Begin(script.Files)
	}
	if err == nil && !ok {
		err = fmt.Errorf("%w: its files are not valid", quickjs.ErrDelta)
	}
	if err == nil {
		g.powers.files = files
		maps.Copy(g.powers.sync, files.Ops())
	}
	return err
}

// hashOfScript returns a hash of the code of a script and of its files.
func hashOfScript(s Script) (sum [32]byte) {
	h := sha256.New()
	put := func(b []byte) { fmt.Fprintf(h, "%d:", len(b)); h.Write(b) }
	put([]byte(s.Code))
	put([]byte(s.Entry))
	fmt.Fprint(h, s.TypeScript)
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		put([]byte(name))
		put(s.Files[name])
	}
	h.Sum(sum[:0])
	return sum
}

// decide checks the answers that a segment begins with. In a repeated run they are those of the journal.
func (g segment) decide(answers []Answer) ([]Answer, error) {
	if g.outside.tape.Playing() {
		answers = nil
		for _, e := range g.outside.tape.PlayDecided() {
			a := Answer{Seq: int(e.ID), Value: e.JSON}
			if e.Name == journal.DecidedCall {
				a.Call, a.Args, a.Value = true, e.JSON, nil
			}
			if e.Error != nil {
				a.ErrorName, a.Error = e.Error[0], e.Error[1]
			}
			answers = append(answers, a)
		}
	}
	seen := map[int]bool{}
	for _, a := range answers {
		x := g.waits.find(a.Seq)
		if x == nil || seen[a.Seq] {
			return nil, fmt.Errorf("%w: wait %d", ErrNotPending, a.Seq)
		}
		seen[a.Seq] = true
		if err := g.fits(x, a); err != nil {
			return nil, fmt.Errorf("%w: wait %d: %w", ErrAnswer, a.Seq, err)
		}
	}
	return answers, nil
}

// fits returns what is wrong with an answer to x.
func (g segment) fits(x *snapshot.Wait, a Answer) error {
	switch {
	case a.Call && forInput(x) && g.outside.tape.Playing():
		return nil
	case a.Call && (x.Kind != waitApproval || x.Tool == ""):
		return errors.New("no call waits for an approval")
	case a.Call && a.Args != nil && !json.Valid(a.Args):
		return errors.New("the parameters are not valid JSON")
	case a.Error != "" || a.Call || len(a.Value) == 0:
		return nil
	case !json.Valid(a.Value):
		return errors.New("the value is not valid JSON")
	}
	if path := depth.Over(a.Value, "answer", g.limits.Depth); path != "" {
		return errors.New(depth.Message("the answer", path, g.limits.Depth))
	}
	return schema.Fits(g.ctx, x.Schema, a.Value)
}

// goOn continues a guest with the answers to its waits.
func (g *guest) goOn(answers []Answer) error {
	loop := eventLoop{g.run, g}
	g.parkAmid()
	if g.grants.parkAmid != nil {
		if err := g.enter(g.in.Drain); err != nil {
			return err
		}
		if err := g.enter(g.runTicks); err != nil {
			return err
		}
	}
	if err := g.abortLost(); err != nil {
		return err
	}
	for _, a := range answers {
		if g.stage.failed || g.stage.settled && g.stage.hasValue {
			break
		}
		if err := loop.decided(a); err != nil {
			return err
		}
	}
	return loop.toEnd()
}

// parkAmid lets the run park between two microtasks if its grants say so.
func (g *guest) parkAmid() {
	if g.grants.parkAmid == nil {
		return
	}
	g.in.Between(func() error {
		if g.requests.outstanding == 0 && !g.stage.failed && g.grants.parkAmid() {
			return errParked
		}
		return nil
	})
}

// abortLost rejects the requests of an earlier segment that the guest still awaits and nothing can answer.
func (g *guest) abortLost() error {
	for _, id := range g.requests.lost {
		if g.stage.failed {
			break
		}
		c := completion{id: id, err: hostops.Throw("AbortError", "the request did not outlast its step")}
		if err := g.deliver(c); err != nil {
			return err
		}
	}
	return nil
}

// decided passes the answer to a durable wait to the guest, or makes the call that the answer approves.
func (r eventLoop) decided(a Answer) error {
	x := *r.waits.find(a.Seq)
	r.waits.pending = slices.DeleteFunc(r.waits.pending, func(p snapshot.Wait) bool { return p.Seq == a.Seq })
	r.memory.Release(roomOf(x))
	if r.outside.seeded && x.Kind == waitSleep {
		r.outside.virtual = max(r.outside.virtual, x.Until)
	}
	switch {
	case forInput(&x) && (a.Error == "" || a.ErrorName == rejected):
		return r.callWithInput(x, a)
	case a.Call:
		return r.callApproved(x, a.Args)
	}
	c := completion{id: x.ID, answer: hostops.Answer{JSON: a.Value}}
	var trouble *[2]string
	if a.Error != "" {
		name := a.ErrorName
		if name == "" {
			name = "Error"
		}
		c.err, trouble = hostops.Throw(name, a.Error), &[2]string{name, a.Error}
	}
	if !r.outside.tape.Playing() {
		r.outside.tape.Decided(a.Seq, false, a.Value, trouble)
	}
	if t := r.waits.tools[x.Tool]; t != nil && a.Error == "" && x.Kind == waitTool {
		c.answer.JSON, c.err = t.Answer(r.ctx, a.Value)
	}
	return r.guest.deliver(c)
}

// callApproved makes a call that was approved.
func (r eventLoop) callApproved(x snapshot.Wait, args json.RawMessage) error {
	if args == nil {
		args = x.Args
	}
	return r.callAgain(x, x.Tool, args, func(ctx context.Context, call hostops.Request) (hostops.Answer, error) {
		return call(ctx, string(args))
	})
}

// SeqOf returns the number of the wait whose approval makes a call, for the context that a ToolFunc or CallVia gets; 0
// for other calls. A call that is made again, because its segment was run again, has the same number.
func SeqOf(ctx context.Context) int { return tool.SeqOf(ctx) }

// Check returns what is wrong with an answer's value, by the Schema of the wait.
func (w Waiting) Check(ctx context.Context, value json.RawMessage) error {
	return schema.Fits(ctx, w.Schema, value)
}
