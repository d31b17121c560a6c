package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

func (hanging) Call(
	ctx context.Context, _ string, params json.RawMessage, carried func(int) error,
) (json.RawMessage, error) {
	if err := carried(len(params)); err != nil {
		return nil, err
	}
	if string(params) == `"hang"` {
		<-ctx.Done()
		return nil, errors.New("given up")
	}
	return params, nil
}

// toolsOf returns the tool of hanging, for everybody.
func toolsOf(calls *semaphore.Fair, answers int64) *mcp.RemoteTools {
	return &mcp.RemoteTools{Source: hanging{}, Calls: calls, MaxAnswers: answers, Permitted: func(_ context.Context,
		all []execution.Tool, _ authn.Identity) []execution.Tool {
		return all
	}}
}

// Calls that hang delay their own caller alone.
func TestHangingCallsDelayNoOtherCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, err := semaphore.New(mcp.CallsOfOne)
		if err != nil {
			t.Fatal(err)
		}
		tools := toolsOf(calls, 1000)
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

// What the servers answer in one execution is bounded, and does not count in another.
func TestAnswersOfAnExecutionAreBounded(t *testing.T) {
	t.Parallel()
	calls, err := semaphore.New(mcp.CallsOfOne)
	if err != nil {
		t.Fatal(err)
	}
	tools := toolsOf(calls, 10)
	for range 2 {
		var s api.Submission
		s.Request.Code = "ledger.add()"
		s = tools.AddTo(t.Context(), s)
		for n, params := range []string{`"a"`, `"abcde"`, `"a"`, `1`} {
			got, err := s.CallTool(t.Context(), "ledger:add", json.RawMessage(params))
			if n < 2 && (err != nil || string(got) != params) {
				t.Errorf("%s %v", got, err)
			}
			if n >= 2 && !strings.Contains(fmt.Sprint(err), "MCP_ANSWER_BYTES") {
				t.Errorf("%s is answered with %s %v", params, got, err)
			}
		}
	}
}
