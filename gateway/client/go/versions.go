package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// Saved is a function with what one of its versions runs. Hook and schedule are as the gateway shows them, without
// secrets.
type Saved struct {
	Function
	Definition
}

// Version is one version of a function.
type Version struct {
	Version    int      `json:"version"`
	CodeSHA256 string   `json:"codeSha256"`
	CodeBytes  int      `json:"codeBytes"`
	CreatedAt  string   `json:"createdAt"`
	CreatedBy  string   `json:"createdBy"`
	Aliases    []string `json:"aliases"`
}

// Alias is a name for a version. Previous is the version that a rollback restores; it is 0 if the alias was never
// moved.
type Alias struct {
	Alias    string `json:"alias"`
	Version  int    `json:"version"`
	Previous int    `json:"previous"`
	MovedAt  string `json:"movedAt"`
}

// Difference is the difference between two versions: fields by name, and unified diffs of the sources by path.
type Difference struct {
	From   int  `json:"from"`
	To     int  `json:"to"`
	Same   bool `json:"same"`
	Fields []struct {
		Field string          `json:"field"`
		From  json.RawMessage `json:"from"`
		To    json.RawMessage `json:"to"`
	} `json:"fields"`
	Files map[string]string `json:"files"`
}

func functionPath(name string, rest ...string) string {
	path := "/api/functions/" + url.PathEscape(name)
	for _, part := range rest {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// Function reads a function and what one of its versions runs: the latest, unless version (from 1) or alias names
// another.
func (c *Client) Function(ctx context.Context, name string, version int, alias string) (saved Saved, err error) {
	given := url.Values{}
	if version > 0 {
		given.Set("version", strconv.Itoa(version))
	}
	if alias != "" {
		given.Set("alias", alias)
	}
	return saved, c.do(ctx, http.MethodGet, functionPath(name), given, nil, &saved)
}

// Versions lists the versions of a function, newest first.
func (c *Client) Versions(ctx context.Context, name string) ([]Version, error) {
	var page struct {
		Items []Version `json:"items"`
	}
	err := c.do(ctx, http.MethodGet, functionPath(name, "versions"), nil, nil, &page)
	return page.Items, err
}

// Diff compares two versions. A to of 0 is the latest version, and a from of 0 the one before.
func (c *Client) Diff(ctx context.Context, name string, from, to int) (d Difference, err error) {
	given := url.Values{}
	for key, n := range map[string]int{"from": from, "to": to} {
		if n > 0 {
			given.Set(key, strconv.Itoa(n))
		}
	}
	return d, c.do(ctx, http.MethodGet, functionPath(name, "diff"), given, nil, &d)
}

// Aliases lists the aliases of a function by name.
func (c *Client) Aliases(ctx context.Context, name string) ([]Alias, error) {
	var page struct {
		Items []Alias `json:"items"`
	}
	err := c.do(ctx, http.MethodGet, functionPath(name, "aliases"), nil, nil, &page)
	return page.Items, err
}

// SetAlias makes or moves an alias.
func (c *Client) SetAlias(ctx context.Context, name, alias string, version int) (a Alias, err error) {
	body := map[string]int{"version": version}
	return a, c.do(ctx, http.MethodPut, functionPath(name, "aliases", alias), nil, body, &a)
}

// DeleteAlias deletes an alias, and not the version that it points at.
func (c *Client) DeleteAlias(ctx context.Context, name, alias string) error {
	return c.do(ctx, http.MethodDelete, functionPath(name, "aliases", alias), nil, nil, nil)
}

// Rollback points an alias at the version that it pointed at before. An empty alias is latest.
func (c *Client) Rollback(ctx context.Context, name, alias string) (a Alias, err error) {
	body := map[string]string{}
	if alias != "" {
		body["alias"] = alias
	}
	return a, c.do(ctx, http.MethodPost, functionPath(name, "rollback"), nil, body, &a)
}
