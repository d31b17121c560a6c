package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/mcp"
)

// talkative is a gateway whose executions print a hundred lines and end at once.
type talkative struct{ gateway }

func (talkative) Execute(
	ctx context.Context, caller mcp.Caller, request execution.Request, onLog func(execution.Log),
) (execution.Result, error) {
	for n := range 100 {
		onLog(execution.Log{Message: fmt.Sprint(n)})
	}
	return gateway{}.Execute(ctx, caller, request, nil)
}

// The client of a proxy receives all progress, in order, before the result: a client that stops reading at the result
// has missed nothing.
func TestProxySendsProgressFirst(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	nearServer, farServer := sdk.NewInMemoryTransports()
	nearProxy, farProxy := sdk.NewInMemoryTransports()
	s := serverOf(t, talkative{})
	go func() { _ = s.Serve(ctx, farServer, mcp.Caller{Identity: authn.Identity{Subject: "me"}}) }() // ends with the test
	ended := make(chan error, 1)
	go func() { ended <- mcp.Proxy(ctx, nearServer, farProxy, "test") }()
	client, err := nearProxy.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	say := func(text string) {
		message, err := jsonrpc.DecodeMessage([]byte(text))
		if err == nil {
			err = client.Write(ctx, message)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	hear := func() jsonrpc.Message {
		message, err := client.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return message
	}
	say(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
			`"clientInfo":{"name":"t","version":"1"}}}`,
	)
	hear()
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for id := 2; id < 22; id++ {
		say(
			fmt.Sprintf(
				`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"1"},`+
					`"_meta":{"progressToken":%d}}}`,
				id, id,
			),
		)
		for n := 0; ; n++ {
			message := hear()
			if response, ok := message.(*jsonrpc.Response); ok {
				if n != 100 || response.Error != nil {
					t.Fatalf("call %d: %d notifications before the result, %v", id, n, response.Error)
				}
				break
			}
			var params struct{ Message string }
			if err := json.Unmarshal(message.(*jsonrpc.Request).Params, &params); err != nil || params.Message != fmt.Sprint(n) {
				t.Fatalf("call %d: notification %d says %q, %v", id, n, params.Message, err)
			}
		}
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	<-ended
}
