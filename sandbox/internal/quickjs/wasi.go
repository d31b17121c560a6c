package quickjs

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

const (
	wasiModule = "wasi_snapshot_preview1"
	errnoBadf  = 8
	errnoNosys = 52
)

// instantiateWASI defines the WASI functions that the engine imports: the host answers clock reads and refuses
// everything else (files, environment, arguments, sleep, exit).
func instantiateWASI(ctx context.Context, rt wazero.Runtime, mod wazero.CompiledModule) error {
	b := rt.NewHostModuleBuilder(wasiModule)
	for _, f := range mod.ImportedFunctions() {
		ns, name, _ := f.Import()
		if ns != wasiModule {
			continue
		}
		fn := api.GoModuleFunc(refuse)
		switch name {
		case "clock_time_get":
			fn = clockTimeGet
		case "proc_exit":
			fn = func(context.Context, api.Module, []uint64) { panic(errExit) }
		}
		b = b.NewFunctionBuilder().WithGoModuleFunction(fn, f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

func refuse(_ context.Context, _ api.Module, stack []uint64) {
	if len(stack) > 0 {
		stack[0] = errnoBadf
	}
}

func clockTimeGet(ctx context.Context, m api.Module, stack []uint64) {
	in := instanceOf(ctx)
	if in == nil || !m.Memory().WriteUint64Le(uint32(stack[2]), uint64(in.host.Now().Nanoseconds())) {
		stack[0] = errnoNosys
		return
	}
	stack[0] = 0
}

// poll lets the host stop a guest. It ends the run by panicking with the host's error, which wazero returns as the
// error of the call; no frame of the guest runs again.
func poll(ctx context.Context, _ api.Module, stack []uint64) {
	kind := uint32(stack[0]) // the upper half of an i32 is undefined
	in := instanceOf(ctx)
	if in == nil {
		return
	}
	if kind == rewrite.PollStackOverflow {
		in.overflow = in.pendingException()
		return
	}
	in.ticks++
	in.interrupted = kind == rewrite.PollInterrupt
	if err := in.host.Poll(in); err != nil {
		panic(err)
	}
}
