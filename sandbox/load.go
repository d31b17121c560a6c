package sandbox

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// The top level of a version's code is evaluated once, in a guest that has nothing: no input, no context, no secrets,
// no tools, no clock, no randomness, and of the host only computation. The memory that it leaves is the image that each
// run of the version starts from. Code that needs anything else while it loads has no image: loading ends at that call,
// before it has any effect, and each run evaluates the code itself.

// loadOps are the synchronous operations that loading code may use. They depend on nothing but their arguments and the
// version's key, and keep nothing on the host.
var loadOps = setOf(
	"utf8.encode", "text.decode", "text.label", "base64.atob", "base64.btoa", "url.parse", "url.set", "host.unicode",
	"form.parse", "form.format", "mime.parse", "multipart.parse",
	"value.kind", "value.promise", "value.proxy", "value.iterator", "stack.call", "stack.frames",
	"stack.trace", "module",
	"buffer.encode", "buffer.decode", "hash", "hmac", "pbkdf2", "hkdf", "zlib",
	"intl.zone", "intl.compare", "intl.locale", "intl.likely", "intl.name", "intl.segment", "intl.data",
	"crypto.digest", "crypto.hmac", "crypto.hmacVerify", "crypto.hkdf", "crypto.pbkdf2", "crypto.public", "crypto.verify",
	"crypto.check", "crypto.fromRaw", "crypto.toRaw", "crypto.fromJwk", "crypto.toJwk", "crypto.rsaParams",
)

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

const throwsWhileLoading = "it throws while it loads"

// coldError ends the loading of code that cannot have an image.
type coldError struct{ why string }

func (e *coldError) Error() string { return e.why }

func cold(format string, args ...any) error { return &coldError{fmt.Sprintf(format, args...)} }

// loader is the host of a guest that loads. It passes the calls that it does not answer itself to its run, whose limits
// apply.
type loader struct {
	*run
	done bool
	// clock is the time that packages see while they load; it is zero for other code. asked reports whether they read
	// it.
	clock time.Duration
	asked bool
}

// Now implements quickjs.Host. It returns to packages alone.
func (l *loader) Now() time.Duration {
	if l.clock == 0 {
		panic(cold("it reads the clock while it loads"))
	}
	l.asked = true
	return l.clock
}

// Word implements quickjs.Host. The message names no tools: an image serves runs with others.
func (l *loader) Word(in *quickjs.Instance, head, frames string) (string, bool) {
	return word(l.run, in, head, frames)
}

// Call implements quickjs.Host.
func (l *loader) Call(in *quickjs.Instance, a quickjs.Args) (quickjs.Value, error) {
	op, _ := a[0].Int()
	switch op {
	case opLoaded:
		if n, _ := a[1].Int(); n != 1 {
			return 0, cold(throwsWhileLoading)
		}
		l.done = true
		return quickjs.Undefined, nil
	case opEarly:
		name, _ := in.Str(a[1], maxOpName)
		return 0, cold("it looks for %s while it loads, which is different in each run", name)
	case opLog:
		return 0, cold("it prints while it loads")
	case opTimer, opClear:
		return 0, cold("it sets a timer while it loads")
	case opRequest:
		name, _ := in.Str(a[2], maxOpName)
		return 0, cold("it calls the host while it loads (%s)", strings.TrimPrefix(name, "tool:"))
	case opTick:
		if n, _ := a[1].Int(); n != 1 {
			l.stage.ticks = true
		}
		return quickjs.Undefined, nil
	case opSync:
		return l.compute(in, a)
	}
	return 0, cold("it fails while it loads")
}

func (l *loader) compute(in *quickjs.Instance, a quickjs.Args) (quickjs.Value, error) {
	name, _ := in.Str(a[1], maxOpName)
	switch {
	case loadOps[name]:
	case name == "random" || name == "crypto.generate":
		return 0, cold("it draws random numbers while it loads")
	case name == "timeOrigin":
		return 0, cold("it reads the clock while it loads")
	case l.looks(in, name, a):
		v, err := l.sync(in, a)
		if code, failed := in.Str(v, maxOpName); failed && err == nil {
			return 0, cold("it looks for a file while it loads (%s)", code)
		}
		return v, err
	case strings.HasPrefix(name, "fs."):
		return 0, cold("it uses files while it loads")
	default:
		return 0, cold("it calls the host while it loads (%s)", name)
	}
	before := l.outside.tainted
	l.outside.tainted = false
	v, err := l.sync(in, a)
	if l.outside.tainted {
		return 0, cold("it draws random numbers while it loads")
	}
	l.outside.tainted = before
	return v, err
}

// looks reports whether an operation looks at the files of packages while packages load. They are the same in every
// run.
func (l *loader) looks(in *quickjs.Instance, name string, a quickjs.Args) bool {
	if l.clock == 0 || name != "fs.stat" && name != "fs.read" && name != "fs.list" {
		return false
	}
	at, _ := in.Str(a[2], maxOpName)
	return strings.HasPrefix(path.Clean("/"+at), "/node_modules/")
}

// load makes the run start from the image of its version, if it has one. It loads a version that is new.
func (r *run) load(v *version) error {
	if v == nil {
		return nil
	}
	if v.loaded {
		r.loaded.ticks = v.ticks
		if err := r.limits.outOfTicks(v.ticks); err != nil {
			return err
		}
	} else if err := r.loadVersion(v); err != nil {
		return err
	}
	r.result.Cold = v.cold
	if v.image == nil {
		return nil
	}
	if int64(v.image.Size()) > r.limits.MemoryBytes {
		return r.limits.exceeded(LimitMemory)
	}
	r.image, r.stamps, r.result.Warm = v.image, v.stamps, true
	return nil
}

// loadVersion evaluates the code into an image of its own, or finds why it cannot have one. An error ends the run: its
// limits were hit, or the platform failed.
func (r *run) loadVersion(v *version) error {
	tainted := r.outside.tainted
	made, err := (&loader{run: r}).freeze(v.key.globals, !r.source.Loads())
	var why *coldError
	if err != nil && !errors.As(err, &why) {
		return err
	}
	if why != nil { // the run begins as if nothing had been evaluated
		v.cold = why.why
		r.rejected, r.loaded, r.stage, r.outside.tainted = nil, usage{}, stage{}, tainted
		r.result.Exception, r.result.Error, r.result.Limit = nil, "", ""
	} else {
		v.image, v.ticks, v.stamps = made, r.loaded.ticks, r.stamps.Within(made)
	}
	v.source, v.loaded = r.source, true
	r.engine.versions.keep(v)
	return nil
}

// freeze evaluates the top level of the code in a guest of its own, or only compiles it, and returns the image of what
// that left. A coldError says why there can be none.
func (l *loader) freeze(globals string, onlyCompiled bool) (*quickjs.Image, error) {
	r := l.run
	if r.late {
		return nil, cold("%s", r.result.PackagesCold)
	}
	in, err := r.image.NewInstance(r.ctx, r.memory.Budget, l)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	const state = 1 // of Math.random: code that draws numbers has no image
	in.SetRandom(state)
	in.SetTimeOrigin(0)
	err = (&guest{r, in}).evaluateTop(globals, onlyCompiled)
	r.loaded = usage{in.Ticks(), r.memory.Peak()}
	var why *coldError
	switch {
	case errors.As(err, &why):
		return nil, why
	case errors.Is(err, errThrown), quickjs.IsTrap(err), quickjs.IsCallStackExhausted(err):
		return nil, cold("it fails while it loads")
	case err != nil:
		return nil, err
	case !l.done:
		return nil, cold("it waits while it loads")
	case len(r.rejected) > 0:
		return nil, cold("it rejects a promise while it loads, and does not handle that")
	case in.Random() != state:
		return nil, cold("it draws random numbers while it loads")
	case in.MemoryBytes() > r.engine.versions.limit/2:
		return nil, cold("it takes %s to load, too much to be kept", bytesText(in.MemoryBytes()))
	}
	if err := in.Collect(); err != nil {
		return nil, err
	}
	made, err := in.Freeze()
	r.loaded.ticks = in.Ticks()
	return made, err
}

// evaluateTop compiles the code and evaluates its top level, unless it is only compiled.
func (g *guest) evaluateTop(globals string, onlyCompiled bool) error {
	fn, err := g.compile()
	if err != nil {
		return err
	}
	if !g.grants.Eval {
		g.in.DisableEval()
	}
	names, err := g.in.ParseJSON([]byte(globals))
	if err != nil {
		return fmt.Errorf("names of globals: %w", err)
	}
	return g.call(g.image.Root(stdlib.RootLoad), fn, names, quickjs.Bool(onlyCompiled),
		quickjs.Bool(g.source.IsPackages()), quickjs.Int(regexpFlags(g.source)))
}
