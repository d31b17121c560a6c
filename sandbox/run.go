package sandbox

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// seededEpoch is where the clock of a seeded run stands when it starts: 2000-01-01T00:00:00Z.
const seededEpoch = 946684800 * time.Second

// clockGrain is the step in which guests see time pass, so that they cannot time what other guests do.
const clockGrain = 100 * time.Microsecond

// run is one execution in progress. It implements quickjs.Host.
type run struct {
	engine *Engine
	ctx    context.Context
	limits Limits
	grants Grants
	source *source.Source
	// cached reports that source came from the engine's cache, so this is not its first run.
	cached bool
	result Result
	output []byte

	start    time.Time
	cpu      cpuClock
	seeded   bool
	virtual  time.Duration // the clock of a seeded run, since its start
	timers   timers
	settled  bool
	hasValue bool
	running  bool // the code compiled
	// unprepared is set when a limit ended the run before its code was ready.
	unprepared bool
	failed     bool
	// What loading the code took (load.go), which counts whether this run did it or another.
	loadTicks, loadMemory int64

	// The host's work for the guest (request.go).
	syncOps     map[string]syncOp
	async       map[string]asyncOp
	followUps   map[string]asyncOp // go on with what an async operation began, and do not count
	tools       map[string]*tool
	asked       map[int32][2]string // what requests under way ask for: name and hash
	recorder    recorder
	replay      *replayer
	divergence  error
	image       *quickjs.Image
	asking      bool // the guest is being asked where it is
	profile     profile
	debug       DebugReport
	files       *fileSystem
	setup       []byte          // what the guest is told of its grants, as JSON; nil when there is nothing
	opsCtx      context.Context // ends with the run
	completions chan completion
	outstanding int
	apiCalls    int

	rejected []quickjs.Value // promises whose rejection nobody handles, retained

	web web // what the web platform's operations keep (web.go)

	outside outside         // all that can make another run come to something else (outside.go)
	memory  *quickjs.Budget // of the guest, and of the host for it (memory.go)
	// requests counts those whose goroutine has not ended.
	requests atomic.Int64
	// unpolled is the work (call.go) that operations have announced since the limits were last checked.
	unpolled int
}

// Run runs one script in a brand-new guest and drops the guest. It returns when the code's value is there (or, for code
// without a value, when its event loop is empty), when it failed, when a cap ended it, or when ctx ended. Everything
// that happened up to then is in the Result. The error is about the platform, never about the guest.
func (e *Engine) Run(ctx context.Context, script Script, grants Grants) (Result, error) {
	e.running.Add(1)
	defer e.running.Add(-1)
	r := e.newRun(ctx, grants)
	defer r.abandon()
	v, err := e.versions.take(script, grants)
	if err != nil {
		return Result{}, err
	}
	defer e.versions.release(v)
	if err := r.takeSource(script, v); err != nil {
		err = r.classify(err)
		return r.finish(nil), err
	}
	if err := r.begin(script); err != nil {
		return Result{}, err
	}
	var endOps context.CancelFunc
	r.opsCtx, endOps = context.WithCancel(ctx)
	defer endOps()
	closeGrants, err := r.grant(script, grants, e.egress)
	if err != nil {
		err = r.classify(err)
		return r.finish(nil), err
	}
	defer closeGrants()
	if err := r.warm(e, v); err != nil {
		err = r.classify(err)
		return r.finish(nil), err
	}
	in, err := r.image.NewInstance(ctx, r.memory, r)
	if err != nil {
		return Result{}, err
	}
	defer in.Close()
	state := mix(uint64(r.result.Seed))
	in.SetRandom(state)
	in.SetTimeOrigin(r.outside.began)
	err = r.execute(in, script)
	err = r.checkReplay(err)
	if in.Random() != state {
		r.outside.reach()
	}
	if err := r.classify(err); err != nil {
		return Result{}, err
	}
	return r.finish(in), nil
}

func (e *Engine) newRun(ctx context.Context, grants Grants) *run {
	r := &run{engine: e, ctx: ctx, limits: grants.Limits.withDefaults(e.maxMemory), grants: grants, start: time.Now(), image: e.image}
	r.outside = outside{run: r, now: e.now, entropy: e.entropy}
	r.memory = quickjs.NewBudget(r.limits.MemoryBytes)
	return r
}

// begin sets the seed and the clock.
func (r *run) begin(script Script) error {
	seed, err := seedOf(script.Seed, r.outside.entropy)
	if err != nil {
		return err
	}
	r.result.Seed, r.seeded = seed, script.Seed != nil
	if j := r.grants.Replay; j != nil {
		r.result.Seed, r.seeded = j.Seed, j.Seeded
		r.replay = &replayer{journal: j, asked: map[int32][2]string{}}
	}
	r.outside.began = r.readClock()
	return nil
}

// warm has the run start from the image of its version, where there is one. It is loaded if it is new.
func (r *run) warm(e *Engine, v *version) error {
	if v == nil {
		return nil
	}
	if v.loaded {
		r.loadTicks = v.ticks
		if err := r.limits.outOfTicks(v.ticks); err != nil {
			return err
		}
	} else if err := e.load(r, v); err != nil {
		return err
	}
	r.result.Cold = v.cold
	if v.image == nil {
		return nil
	}
	if int64(v.image.Size()) > r.limits.MemoryBytes {
		return r.limits.exceeded(LimitMemory)
	}
	r.image, r.result.Warm = v.image, true
	return nil
}

var errCode = errors.New("the code is at fault")

// errNeverSettles ends a run that waits for nothing.
var errNeverSettles = errors.New("the promise returned by the code never settles")

// The flags of the library's start.
const (
	startCalled = 1 // the value is a function to be called
	startSetup  = 2 // there are grants to tell of
	startLoaded = 4 // the top level was evaluated
	startScript = 8 // what the top level gives is the script
)

func (r *run) execute(in *quickjs.Instance, script Script) error {
	image, fn, flags := r.image, quickjs.Undefined, int32(0)
	if r.result.Warm {
		flags |= startLoaded
	} else {
		var err error
		if fn, err = r.compile(in); err != nil {
			return err
		}
	}
	r.running = true
	if r.grants.stackBytes > 0 {
		in.LimitStack(r.grants.stackBytes)
	}
	if !r.grants.Eval {
		in.DisableEval()
	}
	if err := r.shallow(script); err != nil {
		return err
	}
	data, err := in.ParseJSON(contextJSON(script.Context))
	if err != nil {
		return fmt.Errorf("context: %w", err)
	}
	input := quickjs.Null
	if len(script.Input) > 0 {
		if input, err = in.ParseJSON(script.Input); err != nil {
			return fmt.Errorf("input: %w", err)
		}
	}
	if r.source.Called {
		flags |= startCalled
	}
	if r.setup != nil {
		flags |= startSetup
	}
	if r.source.LeavesScript(r.result.Warm) {
		flags |= startScript
	}
	limit := quickjs.Int(int32(min(r.limits.OutputBytes, 1<<30)))
	if err := r.guest(in, image.Root(stdlib.RootStart), fn, data, input, quickjs.Int(flags), limit); err != nil {
		return err
	}
	for !r.failed && !(r.settled && r.hasValue) {
		if r.idle() {
			told, err := r.tellRejected(in)
			switch {
			case err != nil:
				return err
			case told:
				continue
			case r.settled:
				return r.guest(in, image.Root(stdlib.RootFinish))
			}
			return errNeverSettles
		}
		if err := r.wait(in, image); err != nil {
			return err
		}
	}
	if r.failed {
		return nil
	}
	return r.guest(in, image.Root(stdlib.RootFinish))
}

// compile gives the caller's code as a function, of which nothing has run yet. What came before is not compiled again: the
// guest is given what compiling would leave. A run that is watched closely sees it happen.
func (r *run) compile(in *quickjs.Instance) (quickjs.Value, error) {
	if !r.cached || r.grants.Debug != (Debug{}) {
		return r.compileAnew(in)
	}
	if c := r.engine.sources.Compiled(r.source); c != nil {
		if fn, ok := in.Take(c); ok {
			return fn, r.limits.outOfTicks(r.loadTicks + c.Ticks())
		}
	}
	fn, err := r.compileAnew(in)
	if err == nil {
		r.engine.sources.KeepCompiled(r.source, in.Compiled(fn))
	}
	return fn, err
}

func (r *run) compileAnew(in *quickjs.Instance) (quickjs.Value, error) {
	compile := in.Compile
	if r.source.Bundled() {
		compile = in.Assemble
	}
	fn, err := compile(r.source.Text)
	switch {
	case errors.Is(err, quickjs.ErrNotFunction):
		return 0, r.escaping()
	case errors.Is(err, quickjs.ErrException):
		v, err := in.Exception()
		if err != nil {
			return 0, err
		}
		return 0, r.thrown(in, v)
	}
	return fn, err
}

// guest calls into the guest, and counts processor time while it is there.
func (r *run) guest(in *quickjs.Instance, f quickjs.Value, args ...quickjs.Value) error {
	r.cpu.enter()
	defer r.cpu.leave()
	err := in.Call(f, args...)
	if !errors.Is(err, quickjs.ErrException) {
		return err
	}
	v, err := in.Exception()
	if err != nil {
		return err
	}
	return r.thrown(in, v)
}

// idle reports that nothing outside the guest can make it go on.
func (r *run) idle() bool { return r.timers.empty() && r.outstanding == 0 }

// wait waits for the next thing the guest waits for, a timer or an answer, and tells the guest.
func (r *run) wait(in *quickjs.Instance, image *quickjs.Image) error {
	if r.replay != nil {
		return r.replayed(in, image)
	}
	left := r.limits.Wall - r.elapsed()
	pause := left
	if !r.timers.empty() {
		pause = min(r.timers.next()-r.clock(), left)
	}
	if pause > 0 || r.outstanding > 0 {
		alarm := time.NewTimer(max(pause, 0))
		defer alarm.Stop()
		select {
		case <-alarm.C:
		case c := <-r.completions:
			return r.settle(in, image, c)
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	if r.elapsed() >= r.limits.Wall {
		return r.limits.exceeded(LimitWall)
	}
	if r.timers.empty() {
		return nil
	}
	if r.seeded {
		r.virtual = max(r.virtual, r.timers.next())
	}
	return r.fire(in, image, r.timers.pop(r.clock()))
}

// fire runs a timer's callback.
func (r *run) fire(in *quickjs.Instance, image *quickjs.Image, id int32) error {
	r.recorder.add(JournalEvent{Kind: eventTimer, ID: id})
	return r.guest(in, image.Root(stdlib.RootFire), quickjs.Int(id))
}

// Poll implements quickjs.Host: the only place where a computing guest is stopped.
func (r *run) Poll(in *quickjs.Instance) error {
	r.unpolled = 0
	r.sample(in)
	if err := r.limits.outOfTicks(r.loadTicks + in.Ticks()); err != nil {
		return err
	}
	if r.replay != nil {
		return r.replayPoll(in)
	}
	if r.elapsed() >= r.limits.Wall {
		return r.limits.exceeded(LimitWall)
	}
	if r.limits.CPU < r.limits.Wall && r.cpu.used() >= r.limits.CPU {
		return r.limits.exceeded(LimitCPU)
	}
	return r.ctx.Err()
}

// MemoryRefused implements quickjs.Host.
func (r *run) MemoryRefused() error { return r.limits.exceeded(LimitMemory) }

// Trace implements quickjs.Host.
func (r *run) Trace(in *quickjs.Instance, frames string) (string, error) {
	text, work := r.source.Trace(frames)
	in.Spend(work / traceCost)
	return text, nil
}

// traceCost is how many bytes of frames and lines are looked at in the time of a call or back-edge of the guest.
const traceCost = 16

// Now implements quickjs.Host.
func (r *run) Now() time.Duration { return r.outside.clock() }

func (r *run) elapsed() time.Duration { return time.Since(r.start) }

// clock is what timers are set by.
func (r *run) clock() time.Duration {
	if r.seeded {
		return r.virtual
	}
	return r.elapsed()
}

// classify puts the end of a run into the result, or gives back what is the platform's fault.
func (r *run) classify(err error) error {
	var limit *limitError
	var exit *exited
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limit):
		r.result.Limit, r.result.Error, r.result.Exception, r.result.Value = limit.limit, limit.message, nil, nil
	case errors.As(err, &exit):
		if path := depth.Over(exit.value, "result", r.limits.Depth); path != "" {
			return r.classify(r.deep("the result", path))
		}
		if r.result.Value = exit.value; exit.code != 0 {
			r.result.Error = exit.Error()
		}
	case errors.Is(err, errNeverSettles), errors.Is(err, errDiverged):
		r.result.Error = err.Error()
	case r.ctx.Err() != nil && errors.Is(err, r.ctx.Err()):
		r.result.Error, r.result.Cancelled = "cancelled", true
		if errors.Is(err, context.DeadlineExceeded) {
			l := r.limits.exceeded(LimitWall)
			r.result.Limit, r.result.Error, r.result.Cancelled = LimitWall, l.message, false
		}
	case errors.Is(err, errThrown), errors.Is(err, errCode):
	case quickjs.IsCallStackExhausted(err):
		r.result.Limit, r.result.Error = LimitStack, "stack limit exceeded"
	case quickjs.IsTrap(err):
		r.result.Error = "the engine crashed on this code"
	default:
		return err
	}
	return nil
}

// finish completes the result. in is nil when the code never reached a guest.
func (r *run) finish(in *quickjs.Instance) Result {
	res := &r.result
	res.Output = string(r.output)
	if res.Error != "" {
		res.Value = nil
	}
	res.Usage = Usage{Ticks: r.loadTicks, MemoryBytes: r.loadMemory, WallMs: milliseconds(r.elapsed()), CPUMs: milliseconds(r.cpu.used()), OutputBytes: int64(len(r.output)), APICalls: min(r.apiCalls, r.limits.APICalls)}
	if in != nil {
		res.Usage.Ticks += in.Ticks()
		res.Usage.MemoryBytes = r.memory.Peak()
	}
	// Where a cap ends a run depends on the machine.
	res.Pure = !r.outside.reached && res.Limit == "" && !res.Cancelled
	res.Journal, res.Debug = r.journaled(in), r.debugged(in)
	if r.files != nil {
		res.Files = r.files.written()
	}
	return *res
}

func contextJSON(m map[string]json.RawMessage) []byte {
	if len(m) == 0 {
		return []byte("{}")
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for i, name := range names {
		key, _ := json.Marshal(name) // a string always encodes
		b.WriteByte("{,"[min(i, 1)])
		b.Write(key)
		b.WriteByte(':')
		b.Write(m[name])
	}
	b.WriteByte('}')
	return []byte(b.String())
}

func seedOf(given *int64, entropy io.Reader) (int64, error) {
	if given != nil {
		return *given, nil
	}
	var b [8]byte
	if _, err := io.ReadFull(entropy, b[:]); err != nil {
		return 0, fmt.Errorf("draw a seed: %w", err)
	}
	return int64(binary.LittleEndian.Uint64(b[:])), nil
}

// mix spreads a seed over all bits (the finalizer of SplitMix64, Steele et al. 2014): near seeds give unrelated numbers.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
