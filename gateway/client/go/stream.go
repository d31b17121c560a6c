package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// A Chunk holds the output of one console call.
type Chunk struct {
	Chunk string `json:"chunk"`
	Index int    `json:"index"`
	Level string `json:"level"`
}

// resumptions bounds how often the rest of one lost stream is requested.
const resumptions = 3

// ExecuteStream runs code, passes to onChunk what the guest prints as it is printed, and returns the result. The
// calling goroutine calls onChunk; while it takes its time, the guest waits. If the connection is lost, the rest is
// read over a new one, and nothing runs or is passed twice. Ending ctx cancels the run, unless there is an
// [IdempotencyKey].
//
// With [Tools], the functions are called on goroutines of their own, whose context ends with the run.
func (c *Client) ExecuteStream(
	ctx context.Context, request execution.Request, onChunk func(Chunk), given ...Option,
) (Result, error) {
	o := optionsOf(given)
	request, tools := offer(request, o.tools)
	var answers sync.WaitGroup
	defer answers.Wait()
	calling, cancel := context.WithCancel(ctx)
	defer cancel()
	f := follower{called: map[int]bool{}, onChunk: onChunk, onCall: func(id string, asked call) {
		answers.Go(func() { c.answer(calling, id, tools, asked) })
	}}
	for lost := 0; ; lost++ {
		headers := o.headers()
		headers.Set("Accept", "text/event-stream")
		if f.last != "" {
			headers.Set("Last-Event-ID", f.last)
		}
		answer, err := c.send(ctx, http.MethodPost, "/api/execute/stream", nil, request, headers)
		if err != nil {
			c.abandon(ctx, o, f.execution)
			return Result{}, err
		}
		f.execution = cmp.Or(answer.Header.Get("X-Execution-Id"), f.execution)
		err = f.read(answer.Body)
		_ = answer.Body.Close() // it was read, or is given up
		if f.result != nil {
			return *f.result, nil
		}
		var refused *Problem
		if errors.As(err, &refused) || ctx.Err() != nil || f.last == "" || lost == resumptions {
			c.abandon(ctx, o, f.execution)
			return Result{}, errors.Join(ctx.Err(), err)
		}
	}
}

// abandonWithin bounds the cancellation of an abandoned run.
const abandonWithin = 5 * time.Second

// abandon cancels a run whose caller has left: ctx has ended. Without it, the gateway would keep the run for a client
// that comes back, which callers with a key may.
func (c *Client) abandon(ctx context.Context, o options, execution string) {
	if ctx.Err() == nil || o.key != "" || execution == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
	defer cancel()
	_ = c.Cancel(ctx, execution) // it may have ended; a run that is not cancelled is stopped a little later
}

// follower reads events up to the one that ends a stream.
type follower struct {
	onChunk func(Chunk)
	onCall  func(id string, asked call)
	// execution is the ID of the run, or "" before the gateway has said it.
	execution string
	last      string
	result    *Result
	called    map[int]bool // the calls that were passed on
}

// read follows one connection. The error is nil only if there is a result.
func (f *follower) read(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxAnswerBytes)
	var id, name, data string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			data = value
		}
		if lines.Text() != "" || name == "" {
			continue
		}
		if err := f.event(id, name, []byte(data)); err != nil || f.result != nil {
			return err
		}
		f.last, id, name, data = id, "", "", ""
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	return fmt.Errorf("read the stream: %w", io.ErrUnexpectedEOF)
}

func (f *follower) event(id, name string, data []byte) error {
	if f.execution == "" {
		f.execution, _, _ = strings.Cut(id, ":")
	}
	switch name {
	case "chunk":
		var chunk Chunk
		if err := json.Unmarshal(data, &chunk); err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
		if f.onChunk != nil {
			f.onChunk(chunk)
		}
	case "call":
		var asked call
		if err := json.Unmarshal(data, &asked); err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
		if !f.called[asked.Seq] {
			f.called[asked.Seq] = true
			f.onCall(f.execution, asked)
		}
	case "complete", "paused":
		var result Result
		if err := json.Unmarshal(data, &result); err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
		f.result = &result
	case "error":
		p := &Problem{}
		if err := json.Unmarshal(data, p); err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
		return p
	}
	return nil
}
