package quickjs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
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
	// CacheDir keeps compiled code between processes: 0.5 to 0.8 s of compilation become some 6 ms of loading. It is as
	// trusted as the program. Empty means compile every time, and so does another Fuel than the default.
	CacheDir string
	// Fuel is the number of loop headers between two polls. 0 means FuelInterval; negative leaves fuel out, which only
	// benchmarks want: loops inside the engine can then not be stopped.
	Fuel int64
}

// Runtime is the compiled engine. It is safe for concurrent use.
type Runtime struct {
	wazero wazero.Runtime
	cache  wazero.CompilationCache
	module wazero.CompiledModule
	sum    [sha256.Size]byte // of the rewritten module
	first  sync.Once         // of the instances, which sets stacks
	stacks *callStacks
}

// NewRuntime gives the engine, checked, rewritten and compiled: by an earlier process, where the cache folder has it.
func NewRuntime(ctx context.Context, cfg RuntimeConfig) (*Runtime, error) {
	kept := cfg.CacheDir != "" && cfg.Fuel == 0
	if kept {
		if err := os.MkdirAll(cfg.CacheDir, 0o700); err != nil {
			return nil, fmt.Errorf("make the cache folder: %w", err)
		}
		if r, err := loadShell(ctx, cfg.CacheDir); err == nil {
			return r, nil
		}
	}
	original, err := engine()
	if err != nil {
		return nil, err
	}
	fuel := cfg.Fuel
	if fuel == 0 {
		fuel = FuelInterval
	}
	module, err := rewrite(original, max(fuel, 0))
	if err != nil {
		return nil, fmt.Errorf("rewrite engine module: %w", err)
	}
	r := &Runtime{sum: sha256.Sum256(module.wasm)}
	if kept && r.sum != rewrittenSum() {
		return nil, fmt.Errorf("the rewritten engine module has sha256 %x, and rewrittenSHA256 is %s", r.sum, rewrittenSHA256)
	}
	if kept {
		err = r.compileInto(ctx, cfg.CacheDir, module.wasm)
	} else {
		err = r.load(ctx, "", module.wasm)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	return r, nil
}

// engine is the engine's module as it was built.
func engine() ([]byte, error) {
	if sum := sha256.Sum256(engineModule); hex.EncodeToString(sum[:]) != moduleSHA256 {
		return nil, fmt.Errorf("engine module has sha256 %x, want %s: this build of github.com/fastschema/qjs is not supported", sum, moduleSHA256)
	}
	return engineModule, nil
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
	n, addr := uint32(stack[2]), uint32(stack[3])
	if n&traced != 0 {
		v, err := in.trace(addr, n&^traced)
		if err != nil {
			panic(err)
		}
		stack[0] = uint64(v)
		return
	}
	if n&tracked != 0 {
		in.host.Rejected(in, Value(stack[1]), n&^tracked != 0)
		stack[0] = uint64(Undefined)
		return
	}
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
	if err != nil {
		panic(err)
	}
	stack[0] = uint64(v)
}
