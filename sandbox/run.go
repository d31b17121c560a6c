package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/sandbox/internal/cputime"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
	"github.com/airlock-run/airlock/sandbox/internal/timers"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// run is one execution in progress. It implements quickjs.Host.
type run struct {
	engine *Engine
	ctx    context.Context
	grants Grants
	limits Limits
	result Result
	output []byte
	stage  stage

	origin
	// loaded is the work and the memory that loading the code took, whether this run did it or an earlier one (load.go).
	loaded usage

	cpu       cputime.Clock
	outside   outside
	memory    memory
	ops       *hostops.Session
	powers    powers
	requests  requests
	timers    timers.Queue
	waits     waits
	rejected  []quickjs.Value // promises with an unhandled rejection, retained
	inspector inspector
}

// origin is what the guest of a run starts from.
type origin struct {
	source *source.Source
	// cached reports that source came from the engine's cache, so this is not its first run.
	cached bool
	// ahead reports that the source lacks packages, which were evaluated before it, or compiled if they are late.
	ahead, late bool
	// held are the packages that the guest of a session has from its first step.
	held heldPackages
	// live are the exports of packages that the source reads at each use, because they may change.
	live map[string][]string
	// script is the hash of the script of a run that may wait, and segment counts its earlier segments, or the earlier
	// steps of its session.
	script  [32]byte
	segment int
	// told is the hash of the setup that the guest received in an earlier step.
	told [32]byte
	// step is the number of the step of a session that the run is, or 0.
	step  int
	image *quickjs.Image
	// stamps are where the image has the time at which it was made.
	stamps *quickjs.Stamps
}

// stage is how far a run has come.
type stage struct {
	// unprepared is set if a limit ended the run before its code was ready.
	unprepared bool
	// charged is what was charged for logs and output.
	charged int64
	// logsDropped counts the console calls beyond the limit.
	logsDropped int
	// yielded is when a console call last let other goroutines run, since the start of the run.
	yielded time.Duration
	// compiled is set once the code compiled: from then on a SyntaxError is the guest's own.
	compiled bool
	// failed is set once the result has the exception that ended the run.
	failed bool
	// settled is set once the code has ended, hasValue if it has a value.
	settled, hasValue bool
	// ticks is set while callbacks of process.nextTick may wait for the microtasks.
	ticks bool
	// listens is set once code listens for unhandled rejections, which it learns of without delay.
	listens bool
	// happened is set once a timer was due or an answer came, done once the result is there.
	happened, done bool
}

// usage is ticks of work and bytes of memory.
type usage struct{ ticks, memory int64 }

// Run runs one script in a brand-new guest and drops the guest. It returns when the code's value is there (or, for
// code without a value, when its event loop is empty), when it failed, when a limit ended it, or when ctx ended. The
// Result has everything that happened up to then. An error is about the platform, never about the guest.
func (e *Engine) Run(ctx context.Context, script Script, grants Grants) (Result, error) {
	e.running.Add(1)
	defer e.running.Add(-1)
	r := e.newRun(ctx, grants)
	defer r.abandon()
	if script.Engine != "" {
		return runOtherEngine(r, script)
	}
	v, err := e.versions.take(script, grants)
	if err != nil {
		return Result{}, err
	}
	defer e.versions.release(v)
	if err := r.takeSource(script, v); err != nil {
		return r.failEarly(err)
	}
	if grants.Waits.MaxPending > 0 || grants.parkNow != nil || grants.parkAmid != nil {
		r.origin.script = hashOfScript(script)
	}
	p, err := (importer{r}).takePackages(script, v)
	defer e.versions.release(p)
	if err != nil {
		return r.failEarly(err)
	}
	if err := r.begin(script.Seed); err != nil {
		return Result{}, err
	}
	defer r.requests.begin(ctx)()
	closePowers, err := r.grant(script)
	if err != nil {
		return r.failEarly(err)
	}
	defer closePowers()
	if err := r.load(v); err != nil {
		return r.failEarly(err)
	}
	in, err := r.image.NewInstance(ctx, r.memory.Budget, r)
	if err != nil {
		return Result{}, err
	}
	defer in.Close()
	random := mix(uint64(r.outside.seed))
	in.SetRandom(random)
	in.SetTimeOrigin(r.outside.began)
	err = (&guest{r, in}).execute(script)
	if in.Random() != random {
		r.outside.taint()
	}
	return r.ended(in, err)
}

func (e *Engine) newRun(ctx context.Context, grants Grants) *run {
	r := &run{engine: e, ctx: ctx, grants: grants, limits: grants.Limits.withDefaults(e.maxMemory),
		origin: origin{image: e.image}, waits: waits{quiet: -1}}
	r.outside = outside{now: e.now, entropy: e.entropy, start: time.Now()}
	r.memory = memory{quickjs.NewBudget(r.limits.MemoryBytes), e, &r.limits}
	r.ops = hostops.NewSession(env{&r.memory, r}, &e.longest)
	r.inspector.asked = grants.Debug
	return r
}

// begin sets the seed and the clock.
func (r *run) begin(seed *int64) error {
	err := r.outside.begin(seed, r.grants.Replay)
	r.result.Seed = r.outside.seed
	return err
}

// failEarly returns the result of a run that ended before it had a guest, or the error if the platform failed.
func (r *run) failEarly(err error) (Result, error) {
	err = r.classify(err)
	return r.finish(nil), err
}

// The flags of the library's start.
const (
	startCalled = 1    // the value is a function that is to be called
	startSetup  = 2    // there is a setup to ask for
	startLoaded = 4    // the top level was evaluated
	startScript = 8    // the top level leaves the script
	startKeeps  = 16   // the declarations of the code outlive it
	startModule = 32   // the code is an ES module by its syntax
	startKept   = 64   // the code reads the matches that RegExp keeps
	startPath   = 128  // the code is a CommonJS module that mentions its path
	startSets   = 256  // the code may make regular expressions with the flag v
	startNamed  = 512  // the code may show the errors of computed regular expressions
	startLate   = 1024 // the packages were compiled, and are evaluated before the code
)

// execute runs the code in a fresh guest to its end.
func (g *guest) execute(script Script) error {
	fn, flags := quickjs.Undefined, int32(0)
	if g.result.Warm {
		flags |= startLoaded
	} else {
		var err error
		if fn, err = g.compile(); err != nil {
			return err
		}
	}
	g.stage.compiled = true
	g.parkAmid()
	if g.grants.stackBytes > 0 {
		g.in.LimitStack(g.grants.stackBytes)
	}
	if !g.grants.Eval {
		g.in.DisableEval()
	}
	if !g.stamps.Empty() {
		g.in.Stamp(g.stamps, g.outside.origin())
	}
	if err := g.checkDepth(script); err != nil {
		return err
	}
	data, err := g.in.ParseJSON(contextJSON(script.Context))
	if err != nil {
		return fmt.Errorf("context: %w", err)
	}
	input := quickjs.Null
	if len(script.Input) > 0 {
		if input, err = g.in.ParseJSON(script.Input); err != nil {
			return fmt.Errorf("input: %w", err)
		}
	}
	if g.source.Called {
		flags |= startCalled
	}
	if g.powers.setup != nil && g.told != g.powers.told() {
		flags |= startSetup
	}
	if g.late {
		flags |= startLate
	}
	if g.step > 0 {
		flags |= startKeeps
	}
	if g.source.LeavesScript(g.result.Warm) {
		flags |= startScript
	}
	if g.source.IsModule() {
		flags |= startModule
	}
	if g.source.MentionsPath() {
		flags |= startPath
	}
	flags |= regexpFlags(g.source)
	limit := quickjs.Int(int32(min(g.limits.OutputBytes, 1<<30)))
	if err := g.call(g.image.Root(stdlib.RootStart), fn, data, input, quickjs.Int(flags), limit); err != nil {
		return err
	}
	return (eventLoop{g.run, g}).toEnd()
}

// regexpFlags returns the flags for what code needs of RegExp. Loading takes them, too.
func regexpFlags(s *source.Source) (flags int32) {
	if s.ReadsMatches() {
		flags |= startKept
	}
	if s.MentionsSets() {
		flags |= startSets
	}
	if s.ShowsPatterns() {
		flags |= startNamed
	}
	return flags
}

// checkDepth refuses input and context that nest too deeply.
func (r *run) checkDepth(s Script) error {
	if path := depth.Over(s.Input, "input", r.limits.Depth); path != "" {
		return r.failDeep("input", path)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Context)) {
		if path := depth.Over(s.Context[name], name, r.limits.Depth); path != "" {
			return r.failDeep("context", "context."+path)
		}
	}
	return nil
}

// compile returns the caller's code as a function of which nothing has run yet. Code that ran before is not compiled
// again: the guest gets a copy of the compiled form. A run with reports compiles, so that the reports show it.
func (g *guest) compile() (quickjs.Value, error) {
	if !g.cached || g.grants.Debug != (Debug{}) || g.segment > 0 {
		return g.compileAnew()
	}
	sources := &g.engine.sources
	if c := sources.Compiled(g.source); c != nil {
		if fn, ok := g.in.Take(c); ok {
			return fn, g.limits.outOfTicks(g.loaded.ticks + c.Ticks())
		}
	}
	fn, err := g.compileAnew()
	if err == nil {
		sources.KeepCompiled(g.source, g.in.Compiled(fn))
	}
	return fn, err
}

func (g *guest) compileAnew() (quickjs.Value, error) {
	compile := g.in.Compile
	switch {
	case g.step > 0 && g.source.Bundled():
		compile = func(text string) (quickjs.Value, error) { return g.in.AssembleAs(stepFile(g.step), text) }
	case g.step > 0:
		compile = func(text string) (quickjs.Value, error) { return g.in.CompileAs(stepFile(g.step), text) }
	case g.source.IsPackages():
		compile = func(text string) (quickjs.Value, error) { return g.in.AssembleAs(packagesFile, text) }
	case g.source.Bundled():
		compile = g.in.Assemble
	}
	fn, err := compile(g.source.Text)
	switch {
	case errors.Is(err, quickjs.ErrNotFunction):
		return 0, g.escaping()
	case errors.Is(err, quickjs.ErrException):
		return 0, g.pending()
	}
	return fn, err
}

// finish completes the result. in is nil if the code never reached a guest.
func (r *run) finish(in *quickjs.Instance) Result {
	res := &r.result
	res.Output, res.EngineBuild = string(r.output), r.engine.EngineBuild()
	if res.Error != "" {
		res.Value = nil
	}
	res.Usage = Usage{
		Ticks: r.loaded.ticks, MemoryBytes: r.loaded.memory,
		WallMs: milliseconds(r.outside.elapsed()), CPUMs: milliseconds(r.cpu.Used()),
		OutputBytes: int64(len(r.output)), APICalls: min(r.requests.calls, r.limits.APICalls),
		LogsDropped: r.stage.logsDropped,
	}
	r.markDropped()
	if in != nil {
		res.Usage.Ticks += in.Ticks()
		res.Usage.MemoryBytes = r.memory.Peak()
	}
	// Where a limit ends a run depends on the machine.
	res.Pure = !r.outside.tainted && res.Limit == "" && !res.Cancelled
	res.Journal, res.Debug = r.journal(), r.inspector.reported(in)
	if r.powers.files != nil {
		res.Files = r.powers.files.Written()
	}
	return *res
}

// markDropped ends the logs with a line that says how many console calls they lack.
func (r *run) markDropped() {
	n := r.stage.logsDropped
	if n == 0 {
		return
	}
	text := fmt.Sprintf("… %d more console calls are not listed; at most %d are", n, r.limits.LogEntries)
	entry := Log{Level: "warn", Message: text, AtMs: milliseconds(r.outside.elapsed()), Line: text}
	r.result.Logs = append(r.result.Logs, entry)
	if r.grants.OnLog != nil {
		r.grants.OnLog(entry)
	}
}

// journal returns the journal of a run that has ended, nil for a run that was itself repeated from one.
func (r *run) journal() *Journal {
	if r.outside.tape.Playing() {
		return nil
	}
	j := &Journal{
		Version: journalVersion, Seed: r.result.Seed, Seeded: r.outside.seeded,
		Ticks: r.result.Usage.Ticks, Limit: r.result.Limit, Unprepared: r.stage.unprepared,
	}
	j.Events, j.Truncated = r.outside.tape.Recorded()
	return j
}

func contextJSON(m map[string]json.RawMessage) []byte {
	if len(m) == 0 {
		return []byte("{}")
	}
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(m)) {
		key, _ := json.Marshal(name) // a string always encodes
		b.WriteByte("{,"[min(i, 1)])
		b.Write(key)
		b.WriteByte(':')
		b.Write(m[name])
	}
	b.WriteByte('}')
	return []byte(b.String())
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// env is the view of a run that the operations of its guest have.
type env struct {
	*memory
	run *run
}

func (e env) Context() context.Context { return e.run.requests.ctx }

func (e env) Poll(in hostops.Guest) error {
	if own, ok := in.(*quickjs.Instance); ok {
		return e.run.Poll(own)
	}
	return e.run.inTime()
}

func (e env) Taint() { e.run.outside.taint() }

func (e env) Random() io.Reader { return e.run.outside.random() }
