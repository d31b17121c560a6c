package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/airlock-run/airlock/functions/execution"
)

// Function is a saved function as the gateway shows it.
type Function struct {
	Name       string         `json:"name"`
	Version    int            `json:"version"`
	CodeSHA256 string         `json:"codeSha256"`
	CreatedAt  string         `json:"createdAt"`
	Aliases    map[string]int `json:"aliases"`
}

// A Definition holds the content of a saved function: the members of an execution request that say what runs and under
// which rules, and what calls it.
type Definition struct {
	Code     string                     `json:"code,omitempty"`
	Files    map[string]execution.File  `json:"files,omitempty"`
	Entry    string                     `json:"entry,omitempty"`
	Language string                     `json:"language,omitempty"`
	Policy   string                     `json:"policy,omitempty"`
	Timeout  float64                    `json:"timeout,omitempty"` // milliseconds
	Memory   string                     `json:"memory,omitempty"`
	Limits   execution.Limits           `json:"limits,omitzero"`
	Tools    []execution.Tool           `json:"tools,omitempty"`
	Context  map[string]json.RawMessage `json:"context,omitempty"`
	Env      map[string]string          `json:"env,omitempty"`
	Hosts    []string                   `json:"hosts,omitempty"`
	Secrets  []string                   `json:"secrets,omitempty"`
	Schedule *Schedule                  `json:"schedule,omitempty"`
	Hook     *Hook                      `json:"hook,omitempty"`
}

// Schedule is when a function runs by itself: five fields of cron, in UTC unless TimeZone names another time zone.
type Schedule struct {
	Cron     string          `json:"cron"`
	TimeZone string          `json:"timeZone,omitempty"`
	Missed   string          `json:"missed,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
}

// Hook says who may call a function at POST /hooks/{name}, and how they prove it.
type Hook struct {
	Scheme string `json:"scheme"`
	Secret string `json:"secret,omitempty"`
	Header string `json:"header,omitempty"`
	// Headers are further request headers that the function sees.
	Headers          []string `json:"headers,omitempty"`
	ToleranceSeconds int      `json:"toleranceSeconds,omitempty"`
	Async            bool     `json:"async,omitempty"`
	Alias            string   `json:"alias,omitempty"`
}

// A Call asks for a run of a saved function. Without Version and Alias, the latest version runs.
type Call struct {
	Version int                        `json:"version,omitempty"`
	Alias   string                     `json:"alias,omitempty"`
	Input   json.RawMessage            `json:"input,omitempty"`
	Context map[string]json.RawMessage `json:"context,omitempty"`
}

// SaveFunction saves a version. Saving the same content again returns the existing version.
func (c *Client) SaveFunction(ctx context.Context, name string, definition Definition) (saved Function, err error) {
	return saved, c.do(ctx, http.MethodPut, "/api/functions/"+url.PathEscape(name), nil, definition, &saved)
}

// Functions returns a page of the saved functions, and the cursor of the next page, which is empty on the last.
func (c *Client) Functions(ctx context.Context, cursor string) (items []Function, next string, err error) {
	given := url.Values{}
	if cursor != "" {
		given.Set("cursor", cursor)
	}
	var page struct {
		Items []Function `json:"items"`
		Next  string     `json:"next"`
	}
	err = c.do(ctx, http.MethodGet, "/api/functions", given, nil, &page)
	return page.Items, page.Next, err
}

// Invoke runs a saved function and waits.
func (c *Client) Invoke(ctx context.Context, name string, call Call, given ...Option) (result Result, err error) {
	path := "/api/functions/" + url.PathEscape(name) + "/invoke"
	err = c.exchange(ctx, http.MethodPost, path, nil, call, &result, optionsOf(given).headers())
	return result, err
}

// DeleteFunction deletes a function with all its versions.
func (c *Client) DeleteFunction(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodDelete, "/api/functions/"+url.PathEscape(name), nil, nil, nil)
}
