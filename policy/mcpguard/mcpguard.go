package mcpguard

import (
	"context"
	"fmt"
	"reflect"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Client makes a client refuse the messages of a server that the SDK cannot read. Call it before the client connects.
func Client(client *sdk.Client) {
	client.AddSendingMiddleware(recovered)
	client.AddReceivingMiddleware(recovered, complete)
}

// recovered makes a panic of the SDK an error.
func recovered(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if r := recover(); r != nil {
				result, err = nil, fmt.Errorf("what the server sent about %s cannot be read: %v", method, r)
			}
		}()
		return next(ctx, method, request)
	}
}

// complete refuses the messages of a server that lack parameters. The SDK uses those of some messages while it holds
// a lock.
func complete(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		switch method {
		case "ping", "roots/list", "notifications/tools/list_changed", "notifications/prompts/list_changed",
			"notifications/resources/list_changed", "notifications/resources/updated":
		default:
			if p := reflect.ValueOf(request.GetParams()); !p.IsValid() || p.Kind() == reflect.Pointer && p.IsNil() {
				return nil, fmt.Errorf("%s has no parameters", method)
			}
		}
		return next(ctx, method, request)
	}
}
