package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
)

// toolCall is a message that calls execute_code.
func toolCall(id int, code string) string {
	return fmt.Sprintf(
		`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":%q}}}`, id, code,
	)
}

// A message that an agent repeats under its key is carried out once, whether its client stays or not.
func TestAgentRepeatsMessage(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	invoke, runs := counting(false)
	// The queue is so short that a throttled invocation is not tried again.
	s := serve(t, options{config: gateway.Config{Places: 8, QueueWait: 20 * time.Millisecond}, invoke: func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		switch inv.Request.Code {
		case "refuse":
			runs.Add(1)
			return execution.Reply{}, &execution.Error{Code: execution.Throttled, Message: "no room"}
		case "wait":
			started <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
				t.Error("hanging up stopped a call with a key")
			}
		}
		return invoke(ctx, inv, onLog)
	}})
	const accept = "Accept: application/json, text/event-stream"
	session := "Mcp-Session-Id: " + want(t, s.do(t, "POST", "/mcp", mcpHello, accept), 200).Header.Get("Mcp-Session-Id")
	call := func(key, body string) answer {
		t.Helper()
		return s.do(t, "POST", "/mcp", body, accept, session, "Idempotency-Key: "+key)
	}
	first, again := want(t, call("a", toolCall(1, "1")), 200, "completed"), want(t, call("a", toolCall(1, "1")), 200)
	if string(first.body) != string(again.body) || again.Header.Get("Idempotency-Replayed") != "true" || runs.Load() != 1 {
		t.Errorf("%d ran\n%s\n%s", runs.Load(), first.body, again.body)
	}
	call("a", toolCall(1, "2")).problem(t, 422)
	for n := range 2 { // a refused message had no effect: it may be tried again
		if a := want(t, call("b", toolCall(2, "refuse")), 200, "no room"); a.Header.Get("Idempotency-Replayed") != "" ||
			runs.Load() != int64(n+2) {
			t.Errorf("%d ran, %v", runs.Load(), a.Header)
		}
	}

	ctx, hangUp := context.WithCancel(t.Context())
	var gone sync.WaitGroup
	gone.Go(func() {
		r, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/mcp", strings.NewReader(toolCall(3, "wait")))
		for _, h := range []string{accept, session, "Idempotency-Key: c", "Content-Type: application/json"} {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		if res, err := s.client.Do(r); err == nil {
			<-ctx.Done()
			_ = res.Body.Close()
		}
	})
	<-started
	call("c", toolCall(3, "wait")).problem(t, 409)
	hangUp()
	gone.Wait()
	close(release)
	for {
		if a := call("c", toolCall(3, "wait")); a.StatusCode == 200 {
			if want(t, a, 200, "completed"); a.Header.Get("Idempotency-Replayed") != "true" {
				t.Error("it ran again")
			}
			return
		}
	}
}
