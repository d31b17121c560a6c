package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// An Option changes one call.
type Option func(*options)

type options struct {
	key   string
	tools []Tool
}

func optionsOf(given []Option) options {
	var o options
	for _, set := range given {
		set(&o)
	}
	return o
}

// headers returns the headers that the options ask for.
func (o options) headers() http.Header {
	headers := http.Header{}
	if o.key != "" {
		headers.Set("Idempotency-Key", o.key)
	}
	return headers
}

// IdempotencyKey returns an Option that sets an idempotency key: of several requests with the same key, one runs. An
// execution with a key continues if its caller disconnects.
func IdempotencyKey(key string) Option { return func(o *options) { o.key = key } }

// Tools returns an Option that offers functions of this program to the code. The calls travel over the stream of the
// execution.
func Tools(tools ...Tool) Option { return func(o *options) { o.tools = append(o.tools, tools...) } }

// A Tool is a function of this program that code may call.
type Tool struct {
	// Name is "name", called as name(params), or "namespace:method", called as namespace.method(params).
	Name        string
	Description string
	// InputSchema and OutputSchema are JSON Schemas; nil accepts anything.
	InputSchema, OutputSchema json.RawMessage
	// Call returns a value that encodes as JSON. The guest reads the text of an error. Several calls may run at once.
	Call func(ctx context.Context, params json.RawMessage) (any, error)
}

// offer returns the request with tools of the caller, and the tools by name.
func offer(request execution.Request, tools []Tool) (execution.Request, map[string]Tool) {
	byName := make(map[string]Tool, len(tools))
	offered := append([]execution.Tool(nil), request.Tools...)
	for _, t := range tools {
		byName[t.Name] = t
		offered = append(offered, execution.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema,
			OutputSchema: t.OutputSchema, Via: execution.ToolOfCaller})
	}
	request.Tools = offered
	return request, byName
}

// maxErrorBytes bounds the text of an error that the gateway accepts.
const maxErrorBytes = 1000

// call is the data of the event call.
type call struct {
	Seq    int             `json:"seq"`
	Tool   string          `json:"tool"`
	Params json.RawMessage `json:"params"`
}

// answer calls a tool and sends the answer. If the run has ended, nobody needs it.
func (c *Client) answer(ctx context.Context, id string, tools map[string]Tool, asked call) {
	path := fmt.Sprintf("/api/executions/%s/calls/%d", url.PathEscape(id), asked.Seq)
	value, err := evaluate(ctx, tools, asked)
	var body any = map[string]json.RawMessage{"value": value}
	if err != nil {
		body = failure(err)
	}
	var refused *Problem
	if err := c.do(ctx, http.MethodPost, path, nil, body, nil); errors.As(err, &refused) &&
		(refused.Status == 400 || refused.Status == 413) {
		_ = c.do(ctx, http.MethodPost, path, nil, failure(fmt.Errorf("the answer was refused: %w", refused)), nil)
	}
}

func evaluate(ctx context.Context, tools map[string]Tool, asked call) (value json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("the tool failed")
		}
	}()
	tool, ok := tools[asked.Tool]
	if !ok {
		return nil, fmt.Errorf("there is no tool %s", asked.Tool)
	}
	result, err := tool.Call(ctx, asked.Params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

func failure(err error) map[string]string {
	text := err.Error()
	if text == "" {
		text = "the tool failed"
	}
	for len(text) > maxErrorBytes { // between characters
		runes := []rune(text)
		text = string(runes[:len(runes)*9/10])
	}
	return map[string]string{"error": text}
}

// Submit stores code to be run soon, and returns the ID of the execution without waiting for it. It survives a restart
// of the gateway.
func (c *Client) Submit(ctx context.Context, request execution.Request, given ...Option) (id string, err error) {
	o := optionsOf(given)
	if len(o.tools) > 0 {
		return "", errors.New("client: Submit does not accept tools: the job may run after this program ends")
	}
	if o.key == "" {
		o.key = rand.Text()
	}
	headers := o.headers()
	headers.Set("Prefer", "respond-async")
	var accepted struct {
		ID string `json:"id"`
	}
	err = c.exchange(ctx, http.MethodPost, "/api/execute", nil, request, &accepted, headers)
	return accepted.ID, err
}

// Wait waits until an execution that was submitted ends or pauses, and returns its result.
func (c *Client) Wait(ctx context.Context, id string) (Result, error) {
	return c.waitWhile(ctx, id, execution.Queued, execution.Running)
}

// WaitForEnd waits for the end of an execution that was submitted or has paused, and returns its result. It waits while
// the execution is paused.
func (c *Client) WaitForEnd(ctx context.Context, id string) (Result, error) {
	return c.waitWhile(ctx, id, execution.Queued, execution.Running, execution.Paused)
}

// waitWhile waits while an execution has one of some statuses.
func (c *Client) waitWhile(ctx context.Context, id string, statuses ...execution.Status) (Result, error) {
	const longest = 5 * time.Second
	for pause := 50 * time.Millisecond; ; pause = min(pause*3/2, longest) {
		result, err := c.Result(ctx, id)
		if err != nil || !slices.Contains(statuses, result.Status) {
			return result, err
		}
		if err := sleep(ctx, pause); err != nil {
			return Result{}, err
		}
	}
}

// Cancel cancels an execution that was submitted or is streamed. What waits never runs, and what runs is stopped.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/api/result/"+url.PathEscape(id), nil, nil, nil)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
