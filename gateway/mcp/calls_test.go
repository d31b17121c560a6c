package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/semaphore"
)

// hanging is a server whose tool hangs until the call is given up, if its parameters say so.
type hanging struct{ catalogue }

func (hanging) Tools() []execution.Tool {
	return []execution.Tool{{Name: "ledger:add", Via: execution.ToolOfCaller, Server: "ledger"}}
}

func (hanging) Call(ctx context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
	if string(params) == `"hang"` {
		<-ctx.Done()
		return nil, errors.New("given up")
	}
	return params, nil
}

// Calls that hang delay their own caller alone.
func TestHangingCallsDelayNoOtherCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, err := semaphore.New(mcp.CallsOfOne)
		if err != nil {
			t.Fatal(err)
		}
		tools := &mcp.RemoteTools{Source: hanging{}, Calls: calls, Permitted: func(_ context.Context, all []execution.Tool,
			_ authn.Identity) []execution.Tool {
			return all
		}}
		of := func(tenant, subject string) api.Submission {
			s := api.Submission{Caller: authn.Identity{Tenant: tenant, Subject: subject}}
			s.Request.Code = "ledger.add()"
			return tools.AddTo(t.Context(), s)
		}
		ctx, cancel := context.WithCancel(t.Context())
		greedy := of("a", "greedy")
		gaveUp := make(chan error, 100)
		for range cap(gaveUp) {
			go func() {
				_, err := greedy.CallTool(ctx, "ledger:add", json.RawMessage(`"hang"`))
				gaveUp <- err
			}()
		}
		synctest.Wait()
		for _, modest := range []api.Submission{of("a", "modest"), of("b", "modest")} {
			got, err := modest.CallTool(t.Context(), "ledger:add", json.RawMessage(`1`))
			if err != nil || string(got) != "1" {
				t.Errorf("tenant %s: %s, %v", modest.Caller.Tenant, got, err)
			}
		}
		cancel()
		for range cap(gaveUp) {
			if err := <-gaveUp; err == nil {
				t.Error("a call that was given up has a result")
			}
		}
	})
}
