package sandbox

import (
	"context"
	"errors"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/raw"
	"github.com/airlock-run/airlock/sandbox/internal/source"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// RunGlobal runs the global scripts of conformance suites. Only packages below this one can make a Program.
func (e *Engine) RunGlobal(ctx context.Context, program raw.Program, seed int64, grants Grants) (Result, error) {
	r := e.newRun(ctx, grants)
	r.source = source.Named(quickjs.ScriptName)
	in, err := e.image.NewInstance(ctx, r.memory.Budget, r)
	if err != nil {
		return Result{}, err
	}
	defer in.Close()
	if err := r.begin(&seed); err != nil {
		return Result{}, err
	}
	in.SetRandom(mix(uint64(seed)))
	in.SetTimeOrigin(r.outside.began)
	defer r.requests.begin(ctx)()
	if !grants.Eval {
		in.DisableEval()
	}
	if err := r.classify((&guest{r, in}).evaluate(program)); err != nil {
		return Result{}, err
	}
	return r.finish(in), nil
}

// evaluate runs each source, and then the event loop until nothing is left to wait for.
func (g *guest) evaluate(program raw.Program) error {
	g.stage.compiled = true
	for _, s := range program.Sources {
		err := g.enter(func() error { return g.in.Evaluate(s.Name, s.Text, s.Module) })
		if rejected := (*quickjs.RejectionError)(nil); errors.As(err, &rejected) {
			return g.thrown(rejected.Reason)
		}
		if err != nil || g.stage.failed {
			return err
		}
	}
	events := eventLoop{g.run, g}
	for !g.stage.failed && !events.idle() {
		if err := events.wait(); err != nil {
			return err
		}
	}
	return nil
}

// plainLibrary defines print and answers the host's calls with nothing.
const plainLibrary = `(host) => {
	globalThis.print = (text) => { host(1, 0, String(text), 0); };
	const nothing = () => {};
	host(nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing);
}`

// NewPlain makes an engine without the library, for comparisons.
func NewPlain(ctx context.Context, cfg Config, _ raw.Plain) (*Engine, error) {
	cfg.library = []stdlib.File{{Name: "airlock:plain.js", Source: plainLibrary}}
	cfg.SkipSelfTest = true
	return New(ctx, cfg)
}

// NewBasic makes an engine without the web platform, Node's modules and Intl, for comparisons of time.
func NewBasic(ctx context.Context, cfg Config, _ raw.Basic) (_ *Engine, err error) {
	if cfg.library, err = stdlib.Basics(); err != nil {
		return nil, err
	}
	cfg.SkipSelfTest = true
	return New(ctx, cfg)
}
