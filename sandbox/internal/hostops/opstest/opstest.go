// Package opstest runs host operations in a real guest, without the library and without package sandbox. The tests of
// the packages of operations import it. Start with [Eval].
package opstest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

const (
	opCall   = 1 // name, arguments…
	opAnswer = 2 // text
)

// library makes the global op, which calls an operation and throws its error as {name, message}.
const library = `(host) => {
	globalThis.op = (...a) => {
		const v = host(1, ...a);
		if (v?.$error) throw Object.assign(new Error(v.$error[1]), { name: v.$error[0] });
		return v;
	};
	globalThis.answer = (text) => host(2, text);
	globalThis.bytes = (...b) => new Uint8Array(b).buffer;
	globalThis.list = (buffer) => [...new Uint8Array(buffer)];
	host(() => 1, 2, 3, 4);
}`

var image = sync.OnceValues(func() (*quickjs.Image, error) {
	ctx := context.Background()
	r, err := quickjs.NewRuntime(ctx, quickjs.RuntimeConfig{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")})
	if err != nil {
		return nil, err
	}
	return r.BuildImage(ctx, quickjs.ImageConfig{
		Roots: 1, MaxMemoryBytes: 32 << 20, Library: []quickjs.Script{{Name: "ops.js", Source: library}},
	})
})

// Eval evaluates an expression in a fresh guest and returns its value as JSON, or the name and message of what it
// throws. The expression calls operations as op(name, …); bytes(…) makes an ArrayBuffer, and list reads one.
func Eval(t testing.TB, ops map[string]hostops.Op, expression string) string {
	t.Helper()
	im, err := image()
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{ops: ops, ctx: t.Context()}
	g.session = hostops.NewSession(env{g}, nil)
	in, err := im.NewInstance(t.Context(), quickjs.NewBudget(32<<20), g)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	script := "let text; try { text = JSON.stringify(" + expression +
		") } catch (e) { text = e.name + ': ' + e.message } answer(`${text}`)"
	if err := in.Evaluate("test.js", script, false); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	if g.held != 0 {
		t.Errorf("%s: %d bytes are still charged", expression, g.held)
	}
	return g.answer
}

// guest is the host of one guest: it has unlimited memory and time, and its randomness is all zeros.
type guest struct {
	ops     map[string]hostops.Op
	session *hostops.Session
	ctx     context.Context
	held    int64
	answer  string
}

// Context implements hostops.Env.
func (g *guest) Context() context.Context { return g.ctx }

// Poll implements quickjs.Host.
func (g *guest) Poll(*quickjs.Instance) error { return nil }

// env is a guest as its operations see it.
type env struct{ *guest }

// Poll implements hostops.Env.
func (env) Poll(hostops.Guest) error { return nil }

// Random implements hostops.Env.
func (g *guest) Random() io.Reader { return zeros{} }

// Taint implements hostops.Env.
func (g *guest) Taint() {}

// Charge implements hostops.Memory.
func (g *guest) Charge(n int64) error { g.held += n; return nil }

// Release implements hostops.Memory.
func (g *guest) Release(n int64) { g.held -= n }

// ChargeAside implements hostops.Memory.
func (g *guest) ChargeAside(n int64) error { return g.Charge(n) }

// ReleaseAside implements hostops.Memory.
func (g *guest) ReleaseAside(n int64) { g.Release(n) }

// Call implements quickjs.Host.
func (g *guest) Call(in *quickjs.Instance, a quickjs.Args) (quickjs.Value, error) {
	switch kind, _ := a[0].Int(); kind {
	case opCall:
		name, _ := in.Str(a[1], 100)
		op := g.ops[strings.Clone(name)]
		if op == nil {
			return 0, errors.New("there is no operation " + name)
		}
		return g.session.Do(in, op, a[2:])
	case opAnswer:
		g.answer, _ = in.Str(a[1], 1<<20)
	}
	return quickjs.Undefined, nil
}

// Now implements quickjs.Host.
func (g *guest) Now() time.Duration { return 0 }

// MemoryRefused implements quickjs.Host.
func (g *guest) MemoryRefused() error { return errors.New("the guest needs more than 32 MiB") }

// Trace implements quickjs.Host.
func (g *guest) Trace(*quickjs.Instance, string) (string, error) { return "", nil }

// Word implements quickjs.Host.
func (g *guest) Word(*quickjs.Instance, string, string) (string, bool) { return "", false }

// Rejected implements quickjs.Host.
func (g *guest) Rejected(*quickjs.Instance, quickjs.Value, bool) {}

// zeros is a source of zeros.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
