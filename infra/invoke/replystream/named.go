package replystream

import (
	"context"
	"errors"

	"github.com/airlock-run/airlock/functions/execution"
)

// Invoke runs one invocation on a function.
type Invoke func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error)

// Named sends a saved function's sources, which are the same in every call, by their hash, and in full only to a
// function process that does not have them cached. Other invocations are sent as they are.
func Named(ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	invoke Invoke) (execution.Reply, error) {
	if inv.Function == nil || inv.Content == "" {
		return invoke(ctx, inv, onLog)
	}
	named := inv
	named.Request = inv.Request.WithSources(execution.Sources{})
	reply, err := invoke(ctx, named, onLog)
	var refused *execution.Error
	if errors.As(err, &refused) && refused.Code == execution.SourcesNeeded {
		return invoke(ctx, inv, onLog)
	}
	return reply, err
}
