package lambdainvoke_test

import (
	"context"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/infra/invoke/invoketest"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
)

// TestMain makes this test program its own function process.
func TestMain(m *testing.M) {
	if os.Getenv("FUNCTION") == "1" {
		events.Serve(invoketest.Function)
	}
	os.Exit(m.Run())
}

// service returns the address of a Lambda service API with function processes behind it.
func service(t testing.TB, o invoketest.Options) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pool, err := localinvoke.New(t.Context(), localinvoke.Config{
		Command: []string{self}, Env: []string{"FUNCTION=1"},
		Processes: o.Processes, MaxExecution: o.MaxExecution, Grace: o.Grace, MaxMemory: o.MaxMemory,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(pool.ServiceHandler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		closing, cancel := context.WithCancel(context.Background())
		cancel() // the test does not wait for executions that cancelled calls left running
		_ = pool.Close(closing)
		server.Close()
	})
	return server.URL
}

func newClient(t testing.TB, cfg lambdainvoke.Config) *lambdainvoke.Client {
	t.Helper()
	if cfg.Function == "" {
		cfg.Function = "airlock"
	}
	cfg.Region, cfg.Credentials = "eu-central-1", keys{}
	c, err := lambdainvoke.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConformance(t *testing.T) {
	invoketest.Test(t, invoketest.Suite{
		New: func(t testing.TB, o invoketest.Options) invoketest.Invoker {
			return newClient(t, lambdainvoke.Config{Endpoint: service(t, o), Grace: o.Grace, Tenants: true})
		},
		Memory: runtime.GOOS == "linux",
	})
}
