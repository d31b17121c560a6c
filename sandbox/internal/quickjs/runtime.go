package quickjs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	_ "unsafe" // for go:linkname

	_ "github.com/fastschema/qjs" // the engine's bytes
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

//go:linkname engineModule github.com/fastschema/qjs.wasmBytes
var engineModule []byte

// FuelInterval is how many loop headers a loop inside the engine passes between two polls.
const FuelInterval = 20_000

// errExit ends a run whose engine called exit or abort.
var errExit = errors.New("the engine gave up")

// RuntimeConfig configures NewRuntime. The zero value works.
type RuntimeConfig struct {
	// CacheDir keeps compiled code between processes: 0.5 to 0.8 s of compilation become 30 ms of loading. Empty means
	// compile every time.
	CacheDir string
	// Fuel is the number of loop headers between two polls. 0 means FuelInterval; negative leaves fuel out, which only
	// benchmarks want: loops inside the engine can then not be stopped.
	Fuel int64
}

// Runtime is the compiled engine. It is safe for concurrent use.
type Runtime struct {
	wazero   wazero.Runtime
	cache    wazero.CompilationCache
	module   wazero.CompiledModule
	segments []segment
	sum      [sha256.Size]byte // of the rewritten module
	first    sync.Once         // of the instances, which sets stacks
	stacks   *callStacks
}

// NewRuntime checks, rewrites and compiles the engine.
func NewRuntime(ctx context.Context, cfg RuntimeConfig) (_ *Runtime, err error) {
	if sum := sha256.Sum256(engineModule); hex.EncodeToString(sum[:]) != moduleSHA256 {
		return nil, fmt.Errorf("engine module has sha256 %x, want %s: this build of github.com/fastschema/qjs is not supported", sum, moduleSHA256)
	}
	fuel := cfg.Fuel
	if fuel == 0 {
		fuel = FuelInterval
	}
	module, err := rewrite(engineModule, max(fuel, 0))
	if err != nil {
		return nil, fmt.Errorf("rewrite engine module: %w", err)
	}
	r := &Runtime{segments: module.segments, sum: sha256.Sum256(module.wasm)}
	defer func() {
		if err != nil {
			_ = r.Close(ctx)
		}
	}()
	config := wazero.NewRuntimeConfigCompiler()
	if cfg.CacheDir != "" {
		if r.cache, err = wazero.NewCompilationCacheWithDir(cfg.CacheDir); err != nil {
			return nil, fmt.Errorf("open compilation cache %q: %w", cfg.CacheDir, err)
		}
		config = config.WithCompilationCache(r.cache)
	}
	r.wazero = wazero.NewRuntimeWithConfig(ctx, config)
	if r.module, err = r.wazero.CompileModule(ctx, module.wasm); err != nil {
		return nil, fmt.Errorf("compile engine: %w", err)
	}
	if err = instantiateWASI(ctx, r.wazero, r.module); err != nil {
		return nil, fmt.Errorf("link engine: %w", err)
	}
	if err = instantiateHostCall(ctx, r.wazero); err != nil {
		return nil, fmt.Errorf("link host call: %w", err)
	}
	return r, nil
}

// Close releases the compiled code. Every Image must have been closed before.
func (r *Runtime) Close(ctx context.Context) error {
	var errs []error
	if r.wazero != nil {
		errs = append(errs, r.wazero.Close(ctx))
	}
	if r.cache != nil {
		errs = append(errs, r.cache.Close(ctx))
	}
	return errors.Join(errs...)
}

// instantiateHostCall links the one function through which JavaScript reaches Go. The engine passes (context, this,
// argument count, argument address).
func instantiateHostCall(ctx context.Context, rt wazero.Runtime) error {
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	_, err := rt.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(hostCall), []api.ValueType{i32, i64, i32, i32}, []api.ValueType{i64}).
		Export("jsFunctionProxy").Instantiate(ctx)
	return err
}

// maxArgs is how many arguments of a host call are looked at.
const maxArgs = 8

func hostCall(ctx context.Context, _ api.Module, stack []uint64) {
	in := instanceOf(ctx)
	if in == nil {
		stack[0] = uint64(Undefined)
		return
	}
	n, addr := min(uint32(stack[2]), maxArgs), uint32(stack[3])
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
	if err != nil {
		panic(err)
	}
	stack[0] = uint64(v)
}
