package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastWords bounds the time of calls that were sent before the end of the input.
const lastWords = 5 * time.Second

// Stdio returns the transport over a process's input and output. When the input ends, calls that are under way are
// still answered, so that a few messages can be piped in; those that take longer than five seconds are cancelled. A
// line that is not a message gets an error, and the next line is read.
func Stdio(in io.ReadCloser, out io.WriteCloser) sdk.Transport {
	return &stdio{in, &lines{in: bufio.NewReader(in), out: out}}
}

type stdio struct {
	in    io.Closer
	lines *lines
}

// Connect implements sdk.Transport.
func (t *stdio) Connect(ctx context.Context) (sdk.Connection, error) {
	inner := sdk.IOTransport{Reader: struct {
		io.Reader
		io.Closer
	}{t.lines, t.in}, Writer: struct {
		io.Writer
		io.Closer
	}{t.lines, t.lines.out}}
	conn, err := inner.Connect(ctx)
	return &answering{
		Connection: conn, lines: t.lines, open: map[jsonrpc.ID]struct{}{}, changed: make(chan struct{}, 1),
		closed: make(chan struct{}),
	}, err
}

// answering tracks the calls without an answer.
type answering struct {
	sdk.Connection
	lines   *lines
	changed chan struct{}
	closed  chan struct{}
	closing sync.Once

	mu   sync.Mutex
	open map[jsonrpc.ID]struct{}
}

// Read implements sdk.Connection.
func (a *answering) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := a.Connection.Read(ctx)
	for err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil && !a.hasClosed() && !a.lines.failed() {
		a.lines.refuse(notMessage, err.Error())
		message, err = a.Connection.Read(ctx)
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		a.mu.Lock()
		a.open[request.ID] = struct{}{}
		a.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		a.wait(ctx)
	}
	return message, err
}

// Write implements sdk.Connection.
func (a *answering) Write(ctx context.Context, message jsonrpc.Message) error {
	err := a.Connection.Write(ctx, message)
	if response, ok := message.(*jsonrpc.Response); ok {
		a.mu.Lock()
		delete(a.open, response.ID)
		a.mu.Unlock()
		select {
		case a.changed <- struct{}{}:
		default:
		}
	}
	return err
}

// Close implements sdk.Connection.
func (a *answering) Close() error {
	a.closing.Do(func() { close(a.closed) })
	return a.Connection.Close()
}

func (a *answering) hasClosed() bool {
	select {
	case <-a.closed:
		return true
	default:
		return false
	}
}

func (a *answering) wait(ctx context.Context) {
	enough := time.NewTimer(lastWords)
	defer enough.Stop()
	for {
		a.mu.Lock()
		done := len(a.open) == 0
		a.mu.Unlock()
		if done {
			return
		}
		select {
		case <-a.changed:
		case <-a.closed:
			return
		case <-ctx.Done():
			return
		case <-enough.C:
			return
		}
	}
}
