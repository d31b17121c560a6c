package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/airlock-run/airlock/functions/execution"
)

// An Execution is an execution that has paused at least once. It waits, runs again, or has ended. If it has ended, its
// other fields are those of its result, which [Client.Result] returns.
type Execution struct {
	ID          string           `json:"id"`
	Status      execution.Status `json:"status"`
	Policy      string           `json:"policy"`
	RequestedBy string           `json:"requestedBy"`
	ReceivedAt  string           `json:"receivedAt"`
	PausedAt    string           `json:"pausedAt"` // for the first time
	ExpiresAt   string           `json:"expiresAt"`
	// Segment counts the parts of the execution between two pauses.
	Segment int                 `json:"segment"`
	Waiting []execution.Waiting `json:"waiting"`
	Decided []Decided           `json:"decided"`
	// Code is empty in lists.
	Code string `json:"code"`

	answer json.RawMessage
}

// Decided is a decision that an execution has not acted on yet, or the last one that it acted on.
type Decided struct {
	Seq      int    `json:"seq"`
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	By       string `json:"by"`
	At       string `json:"at"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Execution) UnmarshalJSON(b []byte) error {
	type plain Execution
	*e = Execution{}
	if err := json.Unmarshal(b, (*plain)(e)); err != nil {
		return err
	}
	e.answer = append(e.answer, b...)
	return nil
}

// MarshalJSON implements json.Marshaler. The JSON is that of the gateway.
func (e Execution) MarshalJSON() ([]byte, error) {
	if e.answer == nil {
		return nil, errors.New("client: the execution did not come from a gateway")
	}
	return e.answer, nil
}

// A Decision decides about an operation that a paused execution waits for. Decision is approve, edit, which calls the
// tool with Args, respond, whose Value stands for the answer of the tool, or reject.
type Decision struct {
	Seq      int             `json:"seq"`
	Decision string          `json:"decision"`
	Args     json.RawMessage `json:"args,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Reason   string          `json:"reason,omitempty"`
}

// Paused returns a page of the executions that wait, and the cursor of the next page: those of the tenant for a caller
// who may approve, else the caller's own.
func (c *Client) Paused(ctx context.Context, cursor string) (items []Execution, next string, err error) {
	query := url.Values{"status": {string(execution.Paused)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	var page struct {
		Items []Execution `json:"items"`
		Next  *string     `json:"next"`
	}
	if err := c.do(ctx, http.MethodGet, "/api/executions", query, nil, &page); err != nil {
		return nil, "", err
	}
	if page.Next != nil {
		next = *page.Next
	}
	return page.Items, next, nil
}

// Execution returns an execution that has paused.
func (c *Client) Execution(ctx context.Context, id string) (e Execution, err error) {
	err = c.do(ctx, http.MethodGet, "/api/executions/"+url.PathEscape(id), nil, nil, &e)
	return e, err
}

// SendEvent ends the oldest airlock.waitForEvent(name) of an execution with a value, which is sent as JSON. It waits
// as Decide does.
func (c *Client) SendEvent(ctx context.Context, id, name string, value any) (e Execution, err error) {
	path := "/api/executions/" + url.PathEscape(id) + "/events/" + url.PathEscape(name)
	return e, c.do(ctx, http.MethodPost, path, nil, value, &e)
}

// Decide decides about operations of a paused execution. It waits up to 30 seconds until the execution pauses again or
// has ended, and returns its state.
func (c *Client) Decide(ctx context.Context, id string, decisions ...Decision) (e Execution, err error) {
	body := map[string]any{"decisions": decisions}
	err = c.do(ctx, http.MethodPost, "/api/executions/"+url.PathEscape(id)+"/resume", nil, body, &e)
	return e, err
}
