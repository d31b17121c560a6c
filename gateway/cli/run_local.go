package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// execute runs a request. onLog, which may be nil, receives the guest's output as it is printed.
type execute func(ctx context.Context, request execution.Request, onLog func(level, text string)) (execution.Result,
	error)

// lateGrace is how long a run may exceed its wall time before the process exits without its result. The guest and the
// preparation of its code end well before that unless the platform fails.
const lateGrace = 2 * time.Second

// punctual is a sandbox that ends the process if a run does not end in time. It passes on what the guest prints.
type punctual struct {
	engine
	stderr io.Writer
	exit   func(code int)
	now    *current
}

// current is what a punctual knows of the request that runs.
type current struct {
	// line receives what the guest prints, line by line. It is nil if nobody listens.
	line func(level, text string)
	// began is when the request came: its wall time includes the scan of its code. It is zero for a replay.
	began time.Time
}

// late ends the process after a time. stop ends the wait.
func (p punctual) late(after time.Duration) (stop func() bool) {
	return time.AfterFunc(after, func() {
		_, _ = fmt.Fprintln(p.stderr, "airlock: the run did not end at its limit; this process exits without its result "+
			"or record")
		p.exit(exit.Limit)
	}).Stop
}

// engine is what punctual wraps. *sandbox.Engine implements it.
type engine interface {
	runner.Sandbox
	runner.Resumer
	runner.Stepper
}

// limit takes what has passed since the request came from the time of a run, and starts that time. stop ends it.
func (p punctual) limit(grants *sandbox.Grants) (stop func() bool) {
	if !p.now.began.IsZero() {
		grants.Limits.Spent = time.Since(p.now.began)
	}
	return p.late(grants.MaxWall() + lateGrace)
}

// punctualPolicy is a policy that ends the process if the scan of a request's code does not end in time.
type punctualPolicy struct {
	runner.Decider
	punctual
}

// Decide implements runner.Decider. A scan counts work, not time, so only a limit of the request's own ends it.
func (p punctualPolicy) Decide(ask policy.Request) policy.Decision {
	if !p.now.began.IsZero() && ask.Limits.Timeout > 0 {
		defer p.late(ask.Limits.Timeout + lateGrace)()
	}
	return p.Decider.Decide(ask)
}

// Run implements runner.Sandbox.
func (p punctual) Run(ctx context.Context, script sandbox.Script, grants sandbox.Grants) (sandbox.Result, error) {
	defer p.limit(&grants)()
	grants.OnLine = p.now.line
	return p.engine.Run(ctx, script, grants)
}

// Resume implements runner.Resumer.
func (p punctual) Resume(ctx context.Context, from []byte, answers []sandbox.Answer, script sandbox.Script,
	grants sandbox.Grants) (sandbox.Result, error) {
	defer p.limit(&grants)()
	return p.engine.Resume(ctx, from, answers, script, grants)
}

// Step implements runner.Stepper.
func (p punctual) Step(ctx context.Context, from []byte, script sandbox.Script, grants sandbox.Grants) (sandbox.Result,
	error) {
	defer p.limit(&grants)()
	return p.engine.Step(ctx, from, script, grants)
}

// executeLocally returns an execute that runs in this process, one request at a time.
func executeLocally(l *local) execute {
	return func(ctx context.Context, request execution.Request, onLog func(level, text string)) (execution.Result, error) {
		*l.timely.now = current{began: time.Now()}
		if onLog != nil {
			l.timely.now.line = func(level, text string) { onLog(level, text+"\n") }
		}
		return l.Run(ctx, execution.Invocation{
			Airlock: execution.InvocationVersion, ID: wiring.NewID(), Request: request, Via: execution.ViaCLI,
			ReceivedAt: time.Now(),
		}, nil)
	}
}

// local is the runner of a function process in this process.
type local struct {
	*runner.Runner
	timely punctual
	spent  func() bool
	close  func()
}

// RunGCPercent is GOGC of runs in this process. The start leaves 12 MB of garbage, and collecting it three times, as
// Go's default does, takes 8 ms of the processor. Most runs end before a collection pays.
const RunGCPercent = 400

// localSettings holds what a run in this process reads from the environment.
type localSettings struct {
	rules    *policy.Set
	engines  process.EngineSettings
	records  process.Records
	redactor *audit.Redactor
	secret   func(name string) string
	build    string // of QuickJS
	cache    string // the folder with compiled engines
}

// readLocal reads and checks the settings of runs in this process. named is the engine that the run names, or "".
func readLocal(getenv func(string) string, named string) (s localSettings, err error) {
	if s.rules, _, err = process.ReadRules(getenv); err != nil {
		return s, exit.With(exit.Usage, err)
	}
	if s.engines, err = process.ReadEngines(getenv); err != nil {
		return s, exit.With(exit.Usage, err)
	}
	if named != "" && named != policy.QuickJS && slices.Contains(policy.KnownEngines(), named) {
		s.engines.On = []string{named} // who runs code here turns on its engine by naming it
		s.rules = s.rules.WithEngines(s.engines.Engines)
	} else {
		s.engines.On = nil // nothing can ask for it
	}
	if s.records, err = process.ReadRecords(getenv); err != nil {
		return s, exit.With(exit.Usage, err)
	}
	s.secret = process.Secrets(getenv)
	var values []string
	for _, name := range s.rules.Secrets() {
		values = append(values, s.secret(name))
	}
	if s.redactor, err = s.records.Redactor(values...); err != nil {
		return s, exit.With(exit.Usage, err)
	}
	if s.build, err = process.EngineBuild(getenv); err != nil {
		return s, exit.With(exit.Usage, err)
	}
	executable, err := os.Executable()
	if err != nil {
		return s, exit.With(exit.Platform, fmt.Errorf("find this program: %w", err))
	}
	s.cache = process.CacheDir(getenv, executable)
	if err := process.CheckCache(s.cache, executable); err != nil {
		return s, exit.With(exit.Platform, err)
	}
	return s, nil
}

// openRecords opens the record store at a URL. "" is a store that records nothing.
func (s localSettings) openRecords(ctx context.Context, url string) (_ audit.Appender, done func() error, err error) {
	if url == "" {
		return unrecorded{}, func() error { return nil }, nil
	}
	opened, err := s.records.Open(ctx, url, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, exit.With(exit.Platform, fmt.Errorf("open the record store %q: %w", url, err))
	}
	return opened, opened.Close, nil
}

// openEngine opens the sandbox, with the processes of the engine that the settings turn on.
func (s localSettings) openEngine(ctx context.Context) (_ *sandbox.Engine, done func() error, err error) {
	others, err := process.OpenEngines(ctx, s.engines, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, exit.With(exit.Usage, err)
	}
	cfg := sandbox.Config{CacheDir: s.cache, EngineBuild: s.build}
	if others != nil {
		cfg.Processes = others
	}
	engine, err := sandbox.New(ctx, cfg)
	if err != nil {
		others.Close()
		return nil, nil, exit.With(exit.Platform, fmt.Errorf("build the sandbox: %w; airlock doctor says what to do", err))
	}
	return engine, func() error {
		others.Close()
		return engine.Close(context.WithoutCancel(ctx))
	}, nil
}

// localRunner returns a local that has QuickJS and the named engine, which may be empty. store is the URL of the record
// store; empty, AUDIT_STORE names it.
func localRunner(ctx context.Context, con terminal.Console, store, named string) (*local, error) {
	var err error
	if con.Getenv, err = process.PullPackages(ctx, con.Getenv); err != nil {
		return nil, exit.With(exit.Platform, err)
	}
	set, err := readLocal(con.Getenv, named)
	if err != nil {
		return nil, err
	}
	records, closeRecords, err := set.openRecords(ctx, cmp.Or(store, strings.TrimSpace(con.Getenv("AUDIT_STORE"))))
	if err != nil {
		return nil, err
	}
	if con.Getenv("GOGC") == "" {
		debug.SetGCPercent(RunGCPercent)
	}
	prepared := con.Progress("preparing the engine")
	engine, closeEngine, err := set.openEngine(ctx)
	prepared()
	if err != nil {
		return nil, errors.Join(err, closeRecords())
	}
	installed := process.LoadPackages(con.Getenv)
	log := slog.New(slog.NewTextHandler(con.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	installed.Report(log)
	closeAll := func() {
		if err := errors.Join(closeEngine(), closeRecords()); err != nil {
			log.Error("close", "err", err)
		}
	}
	timely := punctual{engine, con.Stderr, os.Exit, &current{}}
	r, err := runner.New(runner.Config{
		Sandbox: timely, Policy: punctualPolicy{set.rules, timely}, Records: records, Log: log,
		KeepCode: set.records.KeepCode, Packages: installed.Packages, Secret: set.secret, Redact: set.redactor.Apply,
		EngineBuild: set.build, OpenBuild: (&process.OtherBuilds{CacheDir: set.cache}).Open,
	})
	if err != nil {
		closeAll()
		return nil, exit.With(exit.Platform, err)
	}
	return &local{r, timely, engine.Spent, closeAll}, nil
}

// unrecorded is the record store of a run that names none.
type unrecorded struct{}

func (unrecorded) Append(context.Context, audit.Record) error { return nil }
