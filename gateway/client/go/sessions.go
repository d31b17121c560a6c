package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/airlock-run/airlock/functions/execution"
)

// A Session is a sequence of executions, its steps. Top-level declarations persist from one step to the next.
type Session struct {
	ID     string `json:"id"`
	Policy string `json:"policy"`
	// Steps is the number of completed steps, and Earliest the first of them that a fork can begin after.
	Steps     int    `json:"steps"`
	Earliest  int    `json:"earliest"`
	Running   bool   `json:"running"`
	CreatedAt string `json:"createdAt"`
	ChangedAt string `json:"changedAt"`
	ExpiresAt string `json:"expiresAt"`
	// Bytes is the size of the stored state. Lists leave it out.
	Bytes int `json:"bytes,omitempty"`
}

// SessionOptions are those of a new session. Zero values are the gateway's defaults.
type SessionOptions struct {
	Policy string `json:"policy,omitempty"`
	// MaxAge is in milliseconds.
	MaxAge float64 `json:"maxAge,omitempty"`
}

func sessionPath(id, more string) string { return "/api/sessions/" + url.PathEscape(id) + more }

// NewSession creates a session.
func (c *Client) NewSession(ctx context.Context, o SessionOptions) (s Session, err error) {
	err = c.do(ctx, http.MethodPost, "/api/sessions", nil, o, &s)
	return s, err
}

// Sessions returns a page of the caller's sessions, and the cursor of the next page.
func (c *Client) Sessions(ctx context.Context, cursor string) (items []Session, next string, err error) {
	query := url.Values{}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	var page struct {
		Items []Session `json:"items"`
		Next  *string   `json:"next"`
	}
	if err := c.do(ctx, http.MethodGet, "/api/sessions", query, nil, &page); err != nil {
		return nil, "", err
	}
	if page.Next != nil {
		next = *page.Next
	}
	return page.Items, next, nil
}

// Session returns a session of the caller.
func (c *Client) Session(ctx context.Context, id string) (s Session, err error) {
	err = c.do(ctx, http.MethodGet, sessionPath(id, ""), nil, nil, &s)
	return s, err
}

// ForkSession creates a session from the state of another after a step; nil means the last.
func (c *Client) ForkSession(ctx context.Context, id string, step *int) (s Session, err error) {
	body := map[string]int{}
	if step != nil {
		body["step"] = *step
	}
	err = c.do(ctx, http.MethodPost, sessionPath(id, "/fork"), nil, body, &s)
	return s, err
}

// DeleteSession ends a session.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, sessionPath(id, ""), nil, nil, nil)
}

// ExecuteStep runs code as the next step of a session, and waits.
func (c *Client) ExecuteStep(ctx context.Context, id string, request execution.Request) (result Result, err error) {
	err = c.do(ctx, http.MethodPost, sessionPath(id, "/execute"), nil, request, &result)
	return result, err
}
