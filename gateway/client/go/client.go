package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/outbound"
	"github.com/airlock-run/airlock/policy/threat"
)

// maxAnswerBytes bounds what is read of one response, or of one event.
const maxAnswerBytes = 64 << 20

// How long a response and a stream may take. An execution waits for its place and then runs.
const (
	maxAnswerTime = 15 * time.Minute
	maxStreamTime = 24 * time.Hour
)

// Config says where the gateway is. Only URL is required.
type Config struct {
	URL   string // such as https://airlock.example.com
	Token string // a token, or the API key; sent to that host alone
	// HTTP sends the requests. Its Timeout bounds streams, too, so it should have none. The default reads at most 64 MiB
	// of a response, for at most 15 minutes, and of a stream for at most a day.
	HTTP *http.Client
	// Retries is how often a request is sent again that the gateway refused because it is busy (429, 503), after the
	// time that it asks for. Default 0.
	Retries int
}

// A Client calls one gateway.
type Client struct {
	base  string
	token string
	http  *http.Client

	retries int
}

// New checks the address and returns a Client.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, fmt.Errorf("client: %q is not the address of a gateway; write it as https://airlock.example.com", cfg.URL)
	}
	c := &Client{base: strings.TrimSuffix(u.String(), "/"), token: cfg.Token, http: cfg.HTTP, retries: cfg.Retries}
	if c.http == nil {
		limits := outbound.Limits{Body: maxAnswerBytes + 1, Total: maxAnswerTime, Stream: maxStreamTime}
		c.http = limits.Client(outbound.Options{Proxy: http.ProxyFromEnvironment})
	}
	return c, nil
}

// Problem is the problem document (RFC 9457) of what the gateway refused, with a code for programs.
type Problem struct {
	Status    int    `json:"status"`
	Code      string `json:"code"`
	Detail    string `json:"detail"`
	Field     string `json:"field"`
	Line      int    `json:"line"` // in code that does not parse, with Column; 0 otherwise
	Column    int    `json:"column"`
	RequestID string `json:"requestId"`
	// RetryAfter is when trying again may help; it is zero if the gateway did not say.
	RetryAfter time.Duration `json:"-"`
}

// Error returns the detail.
func (p *Problem) Error() string {
	if p.Detail == "" {
		return "the gateway answered " + strconv.Itoa(p.Status)
	}
	return p.Detail
}

// Analysis is the policy's verdict on code.
type Analysis struct {
	DangerAnalysis threat.Analysis  `json:"dangerAnalysis"`
	ASTTelemetry   threat.Telemetry `json:"astTelemetry"`
	Decision       struct {
		Allow   bool     `json:"allow"`
		Reasons []string `json:"reasons"`
	} `json:"decision"`
	Violations  []string            `json:"violations"`
	Policy      string              `json:"policy"`
	SyntaxError *threat.SyntaxError `json:"syntaxError"`
}

// Execute runs code and waits. With [Tools] it follows the stream of the execution.
func (c *Client) Execute(ctx context.Context, request execution.Request, given ...Option) (result Result, err error) {
	o := optionsOf(given)
	if len(o.tools) > 0 {
		return c.ExecuteStream(ctx, request, nil, given...)
	}
	err = c.exchange(ctx, http.MethodPost, "/api/execute", nil, request, &result, o.headers())
	return result, err
}

// Analyze returns the policy's verdict on code, which does not run.
func (c *Client) Analyze(ctx context.Context, request execution.Request) (analysis Analysis, err error) {
	return analysis, c.do(ctx, http.MethodPost, "/api/analyze", nil, request, &analysis)
}

// Result reads a result back while it is kept. The status of an execution that has not ended is queued or running.
func (c *Client) Result(ctx context.Context, id string) (result Result, err error) {
	err = c.do(ctx, http.MethodGet, "/api/result/"+url.PathEscape(id), nil, nil, &result)
	return result, err
}

// Record reads one audit record.
func (c *Client) Record(ctx context.Context, id string) (record audit.Record, err error) {
	return record, c.do(ctx, http.MethodGet, "/api/audit/execution/"+url.PathEscape(id), nil, nil, &record)
}

// Records lists audit records, newest first. It ignores the Tenant of q, which is always the caller's own.
func (c *Client) Records(ctx context.Context, q audit.Query) (audit.Page, error) {
	given := url.Values{}
	set := func(name, value string) {
		if value != "" {
			given.Set(name, value)
		}
	}
	set("cursor", q.Cursor)
	set("status", q.Status)
	set("policy", q.Policy)
	set("function", q.Function)
	if q.Limit > 0 {
		set("limit", strconv.Itoa(q.Limit))
	}
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	var page struct {
		Items []audit.Record `json:"items"`
		Next  *string        `json:"next"`
	}
	if err := c.do(ctx, http.MethodGet, "/api/audit/executions", given, nil, &page); err != nil {
		return audit.Page{}, err
	}
	answer := audit.Page{Items: page.Items}
	if page.Next != nil {
		answer.Next = *page.Next
	}
	return answer, nil
}

// do sends body, which may be nil, as JSON, and reads the response into out, which may be nil.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, body, out any) error {
	return c.exchange(ctx, method, path, query, body, out, http.Header{})
}

// exchange sends body as do does, with further headers, and reads the response into out.
func (c *Client) exchange(
	ctx context.Context, method, path string, query url.Values, body, out any, headers http.Header,
) error {
	answer, err := c.send(ctx, method, path, query, body, headers)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it was read, or is given up
	b, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the gateway's answer: %w", err)
	case len(b) > maxAnswerBytes:
		return errors.New("the gateway's answer is too large")
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("read the gateway's answer: %w", err)
	}
	return nil
}

// send returns a response with a status of success, whose body must be closed. Any other status is an error, after as
// many tries as the configuration allows.
func (c *Client) send(
	ctx context.Context, method, path string, query url.Values, body any, headers http.Header,
) (*http.Response, error) {
	for tried := 0; ; tried++ {
		answer, err := c.try(ctx, method, path, query, body, headers)
		var busy *Problem
		if !errors.As(err, &busy) || tried >= c.retries || !busy.again(headers.Get("Idempotency-Key") != "") {
			return answer, err
		}
		if err := sleep(ctx, max(busy.RetryAfter, 250*time.Millisecond<<tried)); err != nil {
			return nil, err
		}
	}
}

// again reports whether a request may be sent again: it did nothing, or it carries a key.
func (p *Problem) again(keyed bool) bool {
	const longest = 90 * time.Second // a limit for a minute asks for up to 61
	uncertain := p.Code == "unavailable" || p.Code == "unrecorded" || p.Code == ""
	return p.RetryAfter <= longest && (p.Status == 429 || p.Status == 503 && (keyed || !uncertain))
}

// try sends a request once.
func (c *Client) try(
	ctx context.Context, method, path string, query url.Values, body any, headers http.Header,
) (*http.Response, error) {
	var payload io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		payload = bytes.NewReader(b)
	}
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address, payload)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	for name, values := range headers {
		r.Header[name] = values
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("call the gateway: %w", err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		defer func() { _ = answer.Body.Close() }()
		return nil, problemOf(answer)
	}
	return answer, nil
}

func problemOf(answer *http.Response) error {
	p := &Problem{}
	b, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil || json.Unmarshal(b, p) != nil {
		*p = Problem{}
	}
	p.Status = answer.StatusCode
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		p.RetryAfter = time.Duration(seconds) * time.Second
	}
	return p
}
