package quickjs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/airlock-run/airlock/sandbox/internal/crew"
	"github.com/airlock-run/airlock/sandbox/internal/datetext"
	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

// FuelInterval is how many loop headers a loop inside the engine passes between two polls.
const FuelInterval = 20_000

// errExit ends a run whose engine called exit or abort.
var errExit = errors.New("the engine exited")

// RuntimeConfig configures NewRuntime. The zero value works.
type RuntimeConfig struct {
	// Build is the engine build. The zero value is the default build.
	Build Build
	// CacheDir keeps compiled code between processes: 0.5 to 0.8 s of compilation become some 6 ms of loading. It is as
	// trusted as the program. Empty means compile every time, and so does another Fuel than the default.
	CacheDir string
	// Fuel is the number of loop headers between two polls. 0 means FuelInterval; negative leaves fuel out, which only
	// benchmarks want: loops inside the engine can then not be stopped.
	Fuel int64
}

// Runtime is a compiled engine build. It is safe for concurrent use.
type Runtime struct {
	build  Build
	facts  rewrite.Host
	wazero wazero.Runtime
	cache  wazero.CompilationCache
	module wazero.CompiledModule
	sum    [sha256.Size]byte // of the rewritten module
	first  sync.Once         // of the instances, which sets stacks
	stacks *callStacks
	crew   crew.Crew // goroutines that replace instances
}

// NewRuntime returns an engine build that is checked, rewritten and compiled, or loaded if an earlier process has
// left it in the cache folder. It refuses a build in which it does not find everything that the host needs.
func NewRuntime(ctx context.Context, cfg RuntimeConfig) (*Runtime, error) {
	if cfg.Build.Name == "" {
		cfg.Build = Builds()[0]
	}
	r := &Runtime{build: cfg.Build, crew: crew.New()}
	kept := cfg.CacheDir != "" && cfg.Fuel == 0
	if kept {
		if err := os.MkdirAll(cfg.CacheDir, 0o700); err != nil {
			return nil, fmt.Errorf("make the cache folder: %w", err)
		}
		if r, err := loadShell(ctx, cfg.CacheDir, cfg.Build); err == nil {
			return r, nil
		}
	}
	fuel := cfg.Fuel
	if fuel == 0 {
		fuel = FuelInterval
	}
	module, facts, err := cfg.Build.rewrite(max(fuel, 0))
	if err != nil {
		return nil, fmt.Errorf("engine build %s: %w", cfg.Build.Name, err)
	}
	r.facts, r.sum = facts, sha256.Sum256(module)
	if sum := hashOf(module); kept && sum != cfg.Build.rewritten {
		return nil, fmt.Errorf("engine build %s, rewritten, has sha256 %s, want %s", cfg.Build.Name, sum, cfg.Build.rewritten)
	}
	if kept {
		err = r.compileInto(ctx, cfg.CacheDir, module)
	} else {
		err = r.load(ctx, "", module)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	return r, nil
}

// rewrite returns the module that is compiled, and what the host needs to know about it.
func (b Build) rewrite(fuel int64) ([]byte, rewrite.Host, error) {
	original, err := b.module()
	if err != nil {
		return nil, rewrite.Host{}, err
	}
	facts, err := rewrite.Find(original)
	if err != nil {
		return nil, rewrite.Host{}, err
	}
	module, _, err := rewrite.Module(original, facts, fuel)
	if err != nil {
		return nil, rewrite.Host{}, fmt.Errorf("rewrite: %w", err)
	}
	return module, facts.Host, nil
}

// Build returns the name of the engine build.
func (r *Runtime) Build() string { return r.build.Name }

// Close releases the compiled code. Every Image must have been closed before.
func (r *Runtime) Close(ctx context.Context) error {
	r.crew.Dismiss()
	var errs []error
	if r.wazero != nil {
		errs = append(errs, r.wazero.Close(ctx))
	}
	if r.cache != nil {
		errs = append(errs, r.cache.Close(ctx))
	}
	return errors.Join(errs...)
}

// link defines what the engine imports: the poll and the host call that the rewriting added, and whatever else the
// build imports besides WASI, which nothing calls.
func (r *Runtime) link(ctx context.Context) error {
	if err := instantiateWASI(ctx, r.wazero, r.module); err != nil {
		return err
	}
	modules := map[string]wazero.HostModuleBuilder{}
	for _, f := range r.module.ImportedFunctions() {
		module, name, _ := f.Import()
		if module == wasiModule {
			continue
		}
		if modules[module] == nil {
			modules[module] = r.wazero.NewHostModuleBuilder(module)
		}
		modules[module] = modules[module].NewFunctionBuilder().
			WithGoModuleFunction(hostFunction(module, name), f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	for _, b := range modules {
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// hostFunction returns the Go function behind an imported function.
func hostFunction(module, name string) api.GoModuleFunc {
	switch {
	case module == rewrite.HostModule && name == rewrite.HostPoll:
		return poll
	case module == rewrite.HostModule && name == rewrite.HostCall, module == "env" && name == "jsFunctionProxy":
		return hostCall
	}
	return func(context.Context, api.Module, []uint64) { panic(errExit) }
}

// maxArgs is how many arguments of a host call are read.
const maxArgs = 8

// hostCall answers call(context, this, argument count, argument address).
func hostCall(ctx context.Context, _ api.Module, stack []uint64) {
	in := instanceOf(ctx)
	if in == nil {
		stack[0] = uint64(Undefined)
		return
	}
	n, addr := uint32(stack[2]), uint32(stack[3])
	switch {
	case n&rewrite.Traced != 0:
		v, err := in.trace(Value(stack[1]), addr, n&^(rewrite.Traced|rewrite.Worded), n&rewrite.Worded != 0)
		if err != nil {
			panic(err)
		}
		stack[0] = uint64(v)
		return
	case n&rewrite.Tracked != 0:
		in.host.Rejected(in, Value(stack[1]), n&^rewrite.Tracked != 0)
		stack[0] = uint64(Undefined)
		return
	}
	if n&rewrite.Dated != 0 {
		text, ok := in.Str(Value(stack[1]), maxDate)
		if stack[0] = uint64(NaN); ok {
			stack[0] = uint64(Number(datetext.Parse(text)))
		}
		return
	}
	in.reclaim()
	n = min(n, maxArgs)
	var args Args
	for i := range n {
		v, ok := in.mod.Memory().ReadUint64Le(addr + 8*i)
		if !ok {
			break
		}
		args[i] = Value(v)
	}
	for i := n; i < maxArgs; i++ {
		args[i] = Undefined
	}
	v, err := in.host.Call(in, args)
	switch {
	case errors.Is(err, ErrException):
		// The engine could not make a value for the host, for instance at the end of its stack. The exception is pending,
		// and the guest that made the call gets it.
		v = exception
	case err != nil:
		panic(err)
	}
	stack[0] = uint64(v)
}

// maxFrames bounds the bytes of a list of frames that are read: the guest names the functions in it.
const maxFrames = 256 << 10

// maxDate bounds a text that is read as a date, in UTF-16 units.
const maxDate = 4 << 10

// maxHead bounds the name and message of an error that the host words, in UTF-16 units.
const maxHead = 1 << 10

// trace returns a string of the frames in guest memory, as the host words them; worded asks for the message of an error
// that the engine throws, whose name and message are v, instead. It returns Undefined for a message that stays, and
// while the guest runs for the host's own sake.
func (in *Instance) trace(v Value, at, length uint32, worded bool) (Value, error) {
	if in.nesting {
		return Undefined, nil
	}
	b, ok := in.mod.Memory().Read(at, min(length, maxFrames))
	if !ok {
		return Undefined, nil
	}
	if worded {
		head, ok := in.Str(v, maxHead)
		if !ok {
			return Undefined, nil
		}
		text, ok := in.host.Word(in, head, string(b))
		if !ok {
			return Undefined, nil
		}
		v, err := in.String(text)
		if errors.Is(err, ErrException) {
			return Undefined, nil // the engine restores what was pending
		}
		return v, err
	}
	text, err := in.host.Trace(in, string(b))
	if err != nil {
		return 0, err
	}
	return in.String(text)
}
