//go:build unix

package localinvoke_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoketest"
	"github.com/airlock-run/airlock/infra/localinvoke"
)

// TestMain makes this test program its own function process.
func TestMain(m *testing.M) {
	switch os.Getenv("FUNCTION") {
	case "1":
		events.Serve(invoketest.Function, events.CancelFrom(os.Stdin))
	case "rogue":
		runRogue()
	case "crash":
		fmt.Fprintln(os.Stderr, "no audit store")
		os.Exit(3)
	case "mute":
		select {}
	case "init error":
		failInit()
	case "parent":
		beParent()
	}
	os.Exit(m.Run())
}

func config(t testing.TB) localinvoke.Config {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return localinvoke.Config{Command: []string{self}, Env: []string{"FUNCTION=1"}, Processes: 2}
}

func newPool(t testing.TB, cfg localinvoke.Config) *localinvoke.Pool {
	t.Helper()
	p, err := localinvoke.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func invocation(code string) execution.Invocation {
	return execution.Invocation{ID: "exec_0123456789", Request: execution.Request{Code: code, Input: json.RawMessage(`{"a":1}`)}, Via: execution.ViaHTTP}
}

func TestEcho(t *testing.T) {
	p := newPool(t, config(t))
	r, err := p.Invoke(t.Context(), invocation("echo"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Result.Result) != `{"a":1}` || !r.Recorded {
		t.Fatalf("%+v", r)
	}
}

func BenchmarkInvoke(b *testing.B) {
	p := newPool(b, config(b))
	inv := invocation("echo")
	for b.Loop() {
		if _, err := p.Invoke(b.Context(), inv, nil); err != nil {
			b.Fatal(err)
		}
	}
}
