package mcptools

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// calls are the requests over one connection whose answers are counted. It is safe for concurrent use.
type calls struct {
	mu      sync.Mutex
	waiting map[jsonrpc.ID]*counter
}

func newCalls() *calls { return &calls{waiting: map[jsonrpc.ID]*counter{}} }

func (c *calls) add(id jsonrpc.ID, of *counter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[id] = of
}

// take returns the counter of a request, which waits no longer, or nil.
func (c *calls) take(id jsonrpc.ID) *counter {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.waiting[id]
	delete(c.waiting, id)
	return of
}

// answered returns the counter of the request that a message with an ID answers, or nil.
func (c *calls) answered(id []byte) *counter {
	var v any
	if json.Unmarshal(id, &v) != nil {
		return nil
	}
	key, err := jsonrpc.MakeID(v)
	if err != nil {
		return nil // the SDK refuses it
	}
	return c.take(key)
}

// refusal returns the message that answers the request of an ID with an error.
func refusal(id []byte, text string) []byte {
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": json.RawMessage(id),
		"error": map[string]any{"code": jsonrpc.CodeInternalError, "message": text},
	})
	if err != nil {
		return nil
	}
	return append(message, '\n')
}

// A counter counts the answers to the requests of one call of a tool. It is safe for concurrent use.
type counter struct {
	carried func(bytes int) error
	refused atomic.Pointer[refusedError] // why an answer was refused
}

// counterKey is the key of the counter in the context of a request.
type counterKey struct{}

// count counts bytes, or refuses the answer that has them. A nil counter counts none.
func (c *counter) count(bytes int) error {
	if c == nil {
		return nil
	}
	err := c.carried(bytes)
	if err != nil {
		c.refused.Store(&refusedError{err.Error()})
	}
	return err
}

// A countedTransport notes the requests whose answers are counted.
type countedTransport struct {
	calls *calls
	sdk.Transport
}

// Connect implements sdk.Transport.
func (t *countedTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &countedConnection{t.calls, c}, nil
}

type countedConnection struct {
	calls *calls
	sdk.Connection
}

// Write implements sdk.Connection.
func (c *countedConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	of, _ := ctx.Value(counterKey{}).(*counter)
	if request, ok := message.(*jsonrpc.Request); ok && of != nil && request.IsCall() {
		c.calls.add(request.ID, of)
		context.AfterFunc(ctx, func() { c.calls.take(request.ID) })
	}
	return c.Connection.Write(ctx, message)
}
