package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

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
// read over a new one, and nothing runs or is passed twice. Ending ctx stops the run.
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
	f := follower{onChunk: onChunk, onCall: func(id string, asked call) {
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
			return Result{}, err
		}
		err = f.read(answer.Body)
		_ = answer.Body.Close() // it was read, or is given up
		if f.result != nil {
			return *f.result, nil
		}
		var refused *Problem
		if errors.As(err, &refused) || ctx.Err() != nil || f.last == "" || lost == resumptions {
			return Result{}, errors.Join(ctx.Err(), err)
		}
	}
}

// follower reads events up to the one that ends a stream.
type follower struct {
	onChunk func(Chunk)
	onCall  func(id string, asked call)
	last    string
	result  *Result
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
		execution, _, _ := strings.Cut(id, ":")
		f.onCall(execution, asked)
	case "complete":
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
