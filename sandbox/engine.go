package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/crew"
	"github.com/airlock-run/airlock/sandbox/internal/imagefolder"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// DefaultMaxMemoryBytes is the value of Config.MaxMemoryBytes if it is not set.
const DefaultMaxMemoryBytes = 256 << 20

// Config configures an Engine. The zero value works.
type Config struct {
	// EngineBuild names the build of the engine, one of EngineBuilds. Default: the first of them.
	EngineBuild string
	// CacheDir is a folder for the compiled engine, created if missing. The first start compiles the engine, which
	// takes about a second, and leaves 9 MB there; later starts take about 20 ms. Without a folder every start
	// compiles. The folder must be as trusted as the program.
	CacheDir string
	// MaxMemoryBytes is the most that Limits.MemoryBytes can ask for. Each run in progress reserves that much address
	// space (not memory). Default DefaultMaxMemoryBytes.
	MaxMemoryBytes int64
	// WarmBytes bounds the images of versions that are kept (Script.Version). Default DefaultWarmBytes.
	WarmBytes int64
	// Egress is how runs with a network reach it.
	Egress Egress
	// Processes starts processes of other engines (Script.Engine); nil has none.
	Processes Processes
	// SkipSelfTest leaves out the self-test at start. Only benchmarks of starts need that.
	SkipSelfTest bool
	// withoutFuel builds an engine whose inner loops cannot be stopped, for benchmarks.
	withoutFuel bool
	// library replaces the standard library, for conformance suites.
	library []stdlib.File
	// now and entropy replace the system's clock and random numbers for guests.
	now     func() time.Time
	entropy io.Reader
}

// Engine runs scripts. It is safe for concurrent use: runs share nothing but read-only memory.
type Engine struct {
	runtime   *quickjs.Runtime
	image     *quickjs.Image
	versions  *versions
	packages  imagefolder.Folder
	sources   source.Cache
	maxMemory int64
	egress    Egress
	processes Processes
	startup   Startup
	running   atomic.Int64 // runs in progress
	abandoned atomic.Int64 // preparations that outlived their runs (prepare.go)
	now       func() time.Time
	entropy   io.Reader
	garbage   atomic.Int64 // bytes that runs released and Go has not collected yet (memory.go)
	crew      crew.Crew    // goroutines that prepare code
	longest   atomic.Int64 // work that was announced between two checks of the limits, of all runs
}

// hidden are the globals of the engine's build that guests must not see.
var hidden = []string{"std", "os", "bjson", "print", "scriptArgs", "gc", "QJS_PROXY_VALUE"}

// New compiles the engine, or loads it from Config.CacheDir, builds the image of the standard library, and proves by
// a self-test that guests can be stopped and share nothing. It returns no Engine that fails the self-test.
func New(ctx context.Context, cfg Config) (_ *Engine, err error) {
	if cfg.MaxMemoryBytes == 0 {
		cfg.MaxMemoryBytes = DefaultMaxMemoryBytes
	}
	if cfg.MaxMemoryBytes < MinMemoryBytes || cfg.MaxMemoryBytes > 2<<30 {
		return nil, fmt.Errorf("MaxMemoryBytes is %d, want %d to %d", cfg.MaxMemoryBytes, MinMemoryBytes, 2<<30)
	}
	if cfg.WarmBytes <= 0 {
		cfg.WarmBytes = DefaultWarmBytes
	}
	e := &Engine{
		maxMemory: cfg.MaxMemoryBytes, egress: cfg.Egress, processes: cfg.Processes, versions: newVersions(cfg.WarmBytes),
		crew: crew.New(),
	}
	e.packages.Dir = cfg.CacheDir
	e.now, e.entropy = time.Now, rand.Reader
	if cfg.now != nil {
		e.now = cfg.now
	}
	if cfg.entropy != nil {
		e.entropy = cfg.entropy
	}
	rc := quickjs.RuntimeConfig{CacheDir: cfg.CacheDir}
	if cfg.withoutFuel {
		rc.Fuel = -1
	}
	build, err := quickjs.BuildNamed(cfg.EngineBuild)
	if err != nil {
		return nil, err
	}
	rc.Build = build
	began := time.Now()
	if e.runtime, err = quickjs.NewRuntime(ctx, rc); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close(ctx))
		}
	}()
	e.startup.Module = lap(&began)
	library := cfg.library
	if library == nil {
		if library, err = stdlib.Library(build.Version()); err != nil {
			return nil, fmt.Errorf("read standard library: %w", err)
		}
	}
	ic := quickjs.ImageConfig{Roots: stdlib.Roots, MaxMemoryBytes: uint64(cfg.MaxMemoryBytes), Hidden: hidden,
		CacheDir: cfg.CacheDir}
	for _, f := range library {
		ic.Library = append(ic.Library, quickjs.Script{Name: f.Name, Source: f.Source})
	}
	if e.image, err = e.runtime.BuildImage(ctx, ic); err != nil {
		return nil, err
	}
	e.startup.Image = lap(&began)
	if !cfg.SkipSelfTest && !cfg.withoutFuel {
		if err = e.selfTest(ctx); err != nil {
			return nil, fmt.Errorf("engine self-test: %w", err)
		}
	}
	e.startup.SelfTest = lap(&began)
	return e, nil
}

// EngineBuilds returns the names of the engine builds that Config.EngineBuild accepts, the default first.
func EngineBuilds() (names []string) {
	for _, b := range quickjs.Builds() {
		names = append(names, b.Name)
	}
	return names
}

// EngineBuild returns the name of the build that the engine runs.
func (e *Engine) EngineBuild() string { return e.runtime.Build() }

// Close releases the engine. No run may be in progress.
func (e *Engine) Close(ctx context.Context) error {
	e.crew.Dismiss()
	first := errors.Join(e.versions.close(), e.packages.Close())
	if e.image != nil {
		first = errors.Join(first, e.image.Close())
	}
	return errors.Join(first, e.runtime.Close(ctx))
}

// Startup is how long the parts of New took.
type Startup struct {
	// Module is checking, rewriting and compiling the engine, or loading it from Config.CacheDir.
	Module time.Duration
	// Image is evaluating the standard library, or reading the image from there.
	Image    time.Duration
	SelfTest time.Duration
}

// Startup returns how long the parts of New took.
func (e *Engine) Startup() Startup { return e.startup }

// lap returns the time since *from, and sets *from to now.
func lap(from *time.Time) time.Duration {
	now := time.Now()
	took := now.Sub(*from)
	*from = now
	return took
}

// selfTest proves on this machine what everything else relies on: guests are stopped wherever they loop, get an error
// when they exhaust their stack, and share neither state nor randomness.
func (e *Engine) selfTest(ctx context.Context) error {
	short := Grants{Limits: Limits{Wall: time.Millisecond}}
	for _, code := range []string{"for(;;){}", "Array.prototype.indexOf.call({length: 2**40}, 1)"} {
		r, err := e.Run(ctx, Script{Code: code}, short)
		if err != nil {
			return err
		}
		if r.Limit != LimitWall {
			return fmt.Errorf("endless code %q was not stopped by its deadline: %s %+v", code, r.Error, r.Exception)
		}
	}
	for _, check := range []struct{ code, want string }{
		{"(() => { const f = () => f(); try { f() } catch (e) { return e instanceof RangeError } })()", "true"},
		{"globalThis.x = (globalThis.x ?? 0) + 1", "1"},
		{"globalThis.x = (globalThis.x ?? 0) + 1", "1"},
		{"globalThis.x = (globalThis.x ?? 0) + 1", "1"}, // the third time it is not compiled
		{"try { eval('1'); return 'allowed' } catch { return 'refused' }", `"refused"`},
	} {
		r, err := e.Run(ctx, Script{Code: check.code}, Grants{stackBytes: 64 << 10}) // a deeper stack proves no more
		if err != nil {
			return err
		}
		if got := string(r.Value); got != check.want {
			return fmt.Errorf("%q gave %s (%s), want %s", check.code, got, r.Error, check.want)
		}
	}
	drawn := map[string]bool{}
	for range 3 {
		r, err := e.Run(ctx, Script{Code: "Math.random()"}, Grants{})
		if err != nil {
			return err
		}
		if drawn[string(r.Value)] {
			return errors.New("two guests drew the same random number")
		}
		drawn[string(r.Value)] = true
	}
	return nil
}
