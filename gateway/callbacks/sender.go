package callbacks

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/outbound"
)

// timeout is how long a receiver may take, connecting included: the longest time that the specification recommends.
const timeout = 20 * time.Second

// limits returns the bounds on what a receiver can make a sender do. The jobs of a tenant bound how many of its
// callbacks are made at once. A bound for each host would let the slow receiver of one tenant delay another's on the
// same host.
func limits() outbound.Limits {
	return outbound.Limits{Body: 64 << 10, Total: timeout}
}

// A Sender makes callbacks. It is safe for concurrent use.
type Sender struct {
	client *http.Client
	now    func() time.Time
}

// NewSender returns a sender that reaches public addresses and the hosts that the deployment opened.
func NewSender(opened []string, now func() time.Time) *Sender {
	return newSender(address.Dialer{Opened: opened, Timeout: timeout}, now)
}

func newSender(dialer address.Dialer, now func() time.Time) *Sender {
	return &Sender{client: limits().Client(outbound.Options{Dial: dialer.DialContext}), now: now}
}

// Close closes idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// NewSecret returns a new signing secret.
func NewSecret() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(b)
}

// ValidSecret reports whether a text is a signing secret: whsec_ and base64 of 16 to 64 bytes.
func ValidSecret(secret string) bool {
	text, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	return ok && err == nil && !strings.ContainsAny(text, "\r\n") && len(key) >= 16 && len(key) <= 64
}

// Decode reads the member callback of a request: a URL, or an object with url and secret. The error is an
// *execution.Error.
func Decode(raw []byte) (*execution.Callback, error) {
	var wire struct {
		URL    string `json:"url"`
		Secret string `json:"secret"`
	}
	const what = "an absolute http or https URL, or an object with the fields url and secret"
	if len(raw) > 0 && raw[0] == '"' {
		if err := execution.DecodeMember("callback", raw, &wire.URL, what); err != nil {
			return nil, err
		}
	} else if err := execution.DecodeMember("callback", raw, &wire, what); err != nil {
		return nil, err
	}
	u, err := url.Parse(wire.URL)
	if err != nil || len(wire.URL) > 2048 || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" ||
		u.User != nil || u.Fragment != "" {
		return nil, &execution.Error{
			Code: execution.InvalidRequest, Field: "callback",
			Message: "must be an absolute http or https URL of at most 2048 bytes without user information or fragment",
		}
	}
	if wire.Secret != "" {
		if !ValidSecret(wire.Secret) {
			return nil, &execution.Error{
				Code: execution.InvalidRequest, Field: "callback.secret",
				Message: "must be whsec_ followed by the base64 of 16 to 64 bytes; omit it to have one generated",
			}
		}
	}
	return &execution.Callback{URL: wire.URL, Secret: wire.Secret, State: execution.CallbackWaiting}, nil
}

// Send makes one attempt to call the receiver of a job back. It reads the receiver's response up to a limit and drops
// it. A redirect is a failure.
func (s *Sender) Send(ctx context.Context, job execution.Job) jobs.Receipt {
	request, err := s.request(ctx, job)
	if err != nil {
		return jobs.Receipt{Problem: "the callback could not be signed"}
	}
	res, err := s.client.Do(request)
	switch {
	case errors.Is(err, address.ErrRefused):
		return jobs.Receipt{Problem: address.ErrRefused.Error()}
	case err != nil:
		return jobs.Receipt{Problem: "the receiver could not be reached"}
	}
	_, err = io.Copy(io.Discard, res.Body)
	err = errors.Join(err, res.Body.Close())
	switch {
	case res.StatusCode == http.StatusGone:
		return jobs.Receipt{Gone: true, Problem: "the receiver responded with 410"}
	case res.StatusCode < 200 || res.StatusCode > 299:
		return jobs.Receipt{
			Problem: "the receiver responded with " + strconv.Itoa(res.StatusCode), After: retryAfter(res.Header),
		}
	case err != nil:
		return jobs.Receipt{Problem: "the receiver's response ended early"}
	}
	return jobs.Receipt{Delivered: true}
}

func (s *Sender) request(ctx context.Context, job execution.Job) (*http.Request, error) {
	now := s.now()
	body, err := payloadOf(job)
	if err != nil {
		return nil, err
	}
	if !ValidSecret(job.Callback.Secret) {
		return nil, errors.New("sign a callback: its secret is missing or too short")
	}
	signer, err := standardwebhooks.NewWebhook(job.Callback.Secret)
	if err != nil {
		return nil, fmt.Errorf("sign a callback: %w", err)
	}
	id := "msg_" + jobs.NewsOf(job).ID
	signature, err := signer.Sign(id, now, body)
	if err != nil {
		return nil, fmt.Errorf("sign a callback: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, job.Callback.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make a callback: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "airlock")
	if job.TraceParent != "" {
		r.Header.Set("Traceparent", job.TraceParent)
	}
	r.Header.Set(standardwebhooks.HeaderWebhookID, id)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return r, nil
}

// payloadOf returns the body of a callback. The result is JSON already and may be large, so it is not encoded again.
func payloadOf(job execution.Job) ([]byte, error) {
	at := job.EndedAt
	if !job.Ended() {
		at = job.Wait.Changed
	}
	head, err := json.Marshal(struct {
		Type      string           `json:"type"`
		Timestamp time.Time        `json:"timestamp"`
		ID        string           `json:"id"`
		Status    execution.Status `json:"status"`
	}{"execution." + jobs.NewsOf(job).Event, at, job.ID, job.Status})
	if err != nil {
		return nil, fmt.Errorf("encode a callback: %w", err)
	}
	result := bytes.TrimSpace(job.Result)
	if len(result) == 0 {
		result = []byte("null")
	}
	return slices.Concat(bytes.TrimSuffix(head, []byte("}")), []byte(`,"data":`), result, []byte("}")), nil
}

// retryAfter returns the seconds of a Retry-After. A date is ignored, and the backoff applies.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || n < 0 || n > 24*60*60 {
		return 0
	}
	return time.Duration(n) * time.Second
}
