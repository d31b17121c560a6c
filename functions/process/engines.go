package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/infra/engines"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/otherengine"
)

// EngineSettings say which engines a deployment has besides QuickJS.
type EngineSettings struct {
	policy.Engines
	// Programs are the programs of engines, by name, where a setting names one.
	Programs map[string]string
	// JIT lets engines compile to machine code.
	JIT bool
}

// ReadEngines reads ENGINES, ENGINE_FALLBACK, ENGINE_JIT, and the programs in ENGINE_V8 and ENGINE_JSC. The error names
// the variable.
func ReadEngines(getenv func(string) string) (EngineSettings, error) {
	var s EngineSettings
	list := names(getenv("ENGINES"))
	for _, name := range list {
		if name == policy.QuickJS {
			continue
		}
		if _, ok := otherengine.KindNamed(name); !ok {
			return s, fmt.Errorf("ENGINES: must be a list of %s; got %q", strings.Join(engineNames(), ", "), name)
		}
		if !slices.Contains(s.On, name) {
			s.On = append(s.On, name)
		}
	}
	if len(list) > 0 && !slices.Contains(list, policy.QuickJS) {
		return s, fmt.Errorf("ENGINES: must contain %s, which runs code that names no engine", policy.QuickJS)
	}
	switch text := strings.TrimSpace(getenv("ENGINE_FALLBACK")); text {
	case "":
	case policy.QuickJS:
		s.Fallback = true
	default:
		return s, fmt.Errorf("ENGINE_FALLBACK: must be %s, or not be set; got %q", policy.QuickJS, text)
	}
	switch text := strings.TrimSpace(getenv("ENGINE_JIT")); text {
	case "", "false":
	case "true":
		s.JIT = true
	default:
		return s, fmt.Errorf("ENGINE_JIT: must be true or false; got %q", text)
	}
	s.Programs = map[string]string{}
	for _, kind := range otherengine.Kinds() {
		s.Programs[kind.Name] = strings.TrimSpace(getenv("ENGINE_" + strings.ToUpper(kind.Name)))
	}
	return s, nil
}

func engineNames() []string {
	all := []string{policy.QuickJS}
	for _, kind := range otherengine.Kinds() {
		all = append(all, kind.Name)
	}
	return all
}

// EngineFleet makes processes of the engines of a deployment. It is safe for concurrent use.
type EngineFleet struct {
	pools  map[string]*engines.Pool
	builds map[string]string
}

// OpenEngines starts the engines that s turns on. It returns nil if there are none.
func OpenEngines(ctx context.Context, s EngineSettings, log *slog.Logger) (_ *EngineFleet, err error) {
	if len(s.On) == 0 {
		return nil, nil
	}
	f := &EngineFleet{map[string]*engines.Pool{}, map[string]string{}}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	for _, name := range s.On {
		kind, ok := otherengine.KindNamed(name)
		if !ok {
			return nil, fmt.Errorf("engine %s is not available; available are %s", name, strings.Join(engineNames(), ", "))
		}
		program, err := exec.LookPath(cmp.Or(s.Programs[name], kind.Binary))
		if err != nil {
			return nil, fmt.Errorf("ENGINES: %s needs the program %s, on the path or in ENGINE_%s: %w", name, kind.Binary,
				strings.ToUpper(name), err)
		}
		setup, err := kind.SetUp(ctx, program, s.JIT, engines.Output)
		if err != nil {
			return nil, fmt.Errorf("ENGINES: %w", err)
		}
		pool, err := engines.Open(ctx, engines.Config{
			Name: name, Command: setup.Command, Env: setup.Env, Program: setup.Program, Warm: setup.Warm,
			Rehearsal: setup.Rehearsal, JIT: s.JIT,
			Logger: log,
		})
		if err != nil {
			return nil, fmt.Errorf("ENGINES: %w", err)
		}
		f.pools[name], f.builds[name] = pool, setup.Build
	}
	return f, nil
}

// Close ends the engines.
func (f *EngineFleet) Close() {
	if f == nil {
		return
	}
	for _, p := range f.pools {
		p.Close()
	}
}

// Lend implements localinvoke.Engines.
func (f *EngineFleet) Lend(ctx context.Context, name string, memoryBytes int64) (*engines.Process, string, error) {
	pool := f.pools[name]
	if pool == nil {
		return nil, "", fmt.Errorf("engine %s is not enabled", name)
	}
	p, err := pool.Take(ctx, memoryBytes)
	return p, f.builds[name], err
}

// Take implements sandbox.Processes, for runs in this process.
func (f *EngineFleet) Take(ctx context.Context, name string, memoryBytes int64) (sandbox.Process, error) {
	p, build, err := f.Lend(ctx, name, memoryBytes)
	if err != nil {
		return sandbox.Process{}, err
	}
	return sandbox.Process{Conn: p.Conn, PID: p.PID, Build: build, Kill: p.Kill}, nil
}

// An EngineState is what is known of an engine of the deployment.
type EngineState struct {
	Name, Build string
	JIT         bool
	Walls       []string
	// Made counts the processes since the start, and Live those that exist.
	Made, Live int64
	// TemplateBytes is the memory of the template, and ProcessBytes what a process that waits has of its own; 0 if they
	// are unknown.
	TemplateBytes, ProcessBytes int64
}

// States returns the state of each engine, by name.
func (f *EngineFleet) States() []EngineState {
	if f == nil {
		return nil
	}
	var all []EngineState
	for _, kind := range otherengine.Kinds() {
		if p := f.pools[kind.Name]; p != nil {
			s := EngineState{Name: kind.Name, Build: f.builds[kind.Name], JIT: p.JIT(), Walls: p.Walls(), Made: p.Made(),
				Live: p.Live()}
			s.TemplateBytes, s.ProcessBytes = p.Memory()
			all = append(all, s)
		}
	}
	return all
}

// lentEngines takes processes from the owner of this process.
type lentEngines struct{ outside *sealed.Outside }

// Take implements sandbox.Processes. The owner knows the execution's memory.
func (l lentEngines) Take(ctx context.Context, name string, _ int64) (sandbox.Process, error) {
	conn, pid, build, err := l.outside.Engine(ctx, name)
	if err != nil {
		return sandbox.Process{}, err
	}
	return sandbox.Process{Conn: conn, PID: pid, Build: build, Kill: func() { _ = conn.Close() }}, nil
}

var errNoEngines = errors.New("functions on Lambda have only the engine quickjs; leave ENGINES out, or set " +
	"ENGINE_FALLBACK=quickjs alone")
