package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/airlock-run/airlock/functions/execution"
)

// What the calls of tools that go through the gateway may carry in one execution, in bytes: each megabyte takes the
// gateway some milliseconds, and an execution may make fifty calls.
const (
	maxParamBytes = 8 << 20
	maxValueBytes = 16 << 20
)

// carried counts what the calls of an execution have carried. It is safe for concurrent use.
type carried struct{ params, values atomic.Int64 }

// bounded returns call, which may be nil, with a bound on what all calls of one execution carry.
func bounded(call execution.CallTool) execution.CallTool {
	if call == nil {
		return nil
	}
	c := &carried{}
	return func(ctx context.Context, tool string, params json.RawMessage) (json.RawMessage, error) {
		if c.params.Add(int64(len(params))) > maxParamBytes {
			return nil, fmt.Errorf("the parameters of %s are too much: those of all calls of tools of an execution may have "+
				"%d bytes together; pass less with each call", tool, maxParamBytes)
		}
		value, err := call(ctx, tool, params)
		if err == nil && c.values.Add(int64(len(value))) > maxValueBytes {
			return nil, fmt.Errorf("the answer of %s is too much: those of all calls of tools of an execution may have %d "+
				"bytes together; ask for less with each call", tool, maxValueBytes)
		}
		return value, err
	}
}
