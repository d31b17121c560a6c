package gateway_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/callbacks"
)

// told waits until the job shows the expected state of its callback to its owner.
func (s *served) told(t *testing.T, location string, is func(map[string]any) bool) map[string]any {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		a := want(t, s.do(t, "GET", location, ""), 200)
		to, ok := a.json(t)["callback"].(map[string]any)
		if !ok || to["secret"] != nil {
			t.Fatalf("%s", a.body)
		}
		if is(to) {
			return to
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatal(to)
		}
	}
}

func TestCallbackIsAStandardWebhook(t *testing.T) {
	t.Parallel()
	type delivery struct {
		header http.Header
		body   []byte
	}
	got := make(chan delivery, 10)
	var calls atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		got <- delivery{r.Header, body}
	}))
	t.Cleanup(receiver.Close)
	const own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	s := kept(t, options{config: gateway.Config{Callbacks: callbacks.Rules{OpenedHosts: []string{"127.0.0.1"}}}})
	a := want(
		t, s.do(t, "POST", "/api/execute", `{"code":"1","callback":"`+receiver.URL+`/x"}`, prefer), 202,
		`"callbackSecret":"whsec_`,
	)
	given := a.json(t)["callbackSecret"].(string)
	id := a.json(t)["id"].(string)
	signer, err := standardwebhooks.NewWebhook(given)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for range 2 {
		d := <-got
		if err := signer.Verify(d.body, d.header); err != nil {
			t.Errorf("%v: %v", d.header, err)
		}
		if !strings.Contains(string(d.body), `"type":"execution.completed"`) ||
			!strings.Contains(string(d.body), `"data":{"id":"`+id) {
			t.Errorf("%s", d.body)
		}
		ids = append(ids, d.header.Get("webhook-id"))
	}
	if len(slices.Compact(ids)) != 1 {
		t.Errorf("ids %v", ids)
	}
	if to := s.told(
		t, a.Header.Get("Location"), func(to map[string]any) bool { return to["state"] == "delivered" },
	); to["attempts"] != 2.0 {
		t.Error(to)
	}
	a = want(
		t, s.do(t, "POST", "/api/execute", `{"code":"1","callback":{"url":"`+receiver.URL+`","secret":"`+own+`"}}`, prefer),
		202,
	)
	if strings.Contains(string(a.body), "callbackSecret") {
		t.Errorf("%s", a.body)
	}
	if signer, err = standardwebhooks.NewWebhook(own); err != nil {
		t.Fatal(err)
	}
	if d := <-got; signer.Verify(d.body, d.header) != nil {
		t.Errorf("%v", d.header)
	}
}

// A receiver at an address that is neither public nor opened is not called.
func TestCallbackObeysEgress(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the receiver was called") }),
	)
	t.Cleanup(receiver.Close)
	s := kept(t, options{})
	for _, address := range []string{receiver.URL, "http://169.254.169.254/", "https://[::1]/", "http://10.0.0.1:8080"} {
		if detail, _ := s.do(
			t, "POST", "/api/execute", `{"code":"1","callback":"`+address+`"}`, prefer,
		).problem(t, 400); !strings.Contains(detail, "EGRESS_ALLOW") {
			t.Errorf("%s: %s", address, detail)
		}
	}
	// A name is resolved again when the receiver is called.
	name := strings.Replace(receiver.URL, "127.0.0.1", "localhost", 1)
	a := want(t, s.do(t, "POST", "/api/execute", `{"code":"1","callback":"`+name+`"}`, prefer), 202)
	to := s.told(t, a.Header.Get("Location"), func(to map[string]any) bool { return to["attempts"].(float64) > 0 })
	members(t, to, map[string]any{"state": "pending", "url": name})
	if to["next"] == "" || !strings.Contains(to["problem"].(string), "EGRESS_ALLOW") {
		t.Error(to)
	}
}
