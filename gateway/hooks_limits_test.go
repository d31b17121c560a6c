package gateway_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/ratelimit"
)

// allowance is a quota of a number of requests a minute for each tenant.
type allowance struct {
	limiter *ratelimit.Limiter
	most    int
}

func (a allowance) Take(ctx context.Context, tenant string) (ratelimit.Verdict, error) {
	return a.limiter.TakeUpTo(ctx, tenant, a.most)
}

func (allowance) Concurrent(string) int { return 0 }

func quotaOf(t *testing.T, most int) access.Quotas {
	t.Helper()
	limiter, err := ratelimit.New(ratelimit.Config{Window: time.Hour, Max: 1, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return allowance{limiter, most}
}

// A verified delivery counts against the quota of its tenant and the limit of its hook, whether it is answered at
// once or later.
func TestHooksAreLimited(t *testing.T) {
	t.Parallel()
	for _, limit := range []struct {
		name, code string
		o          func(t *testing.T) options
	}{
		// one request saves the function
		{"the tenant's quota", "quota_exceeded", func(t *testing.T) options { return options{quotas: quotaOf(t, 6)} }},
		{
			"the hook's limit", "rate_limited",
			func(*testing.T) options { return options{config: gateway.Config{Hooks: gateway.HooksConfig{Rate: 5}}} },
		},
	} {
		for _, scheme := range []string{"none", "standard", "github", "shared-header"} {
			for _, async := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, async %t", limit.name, scheme, async), func(t *testing.T) {
					store := opened(t)
					o := limit.o(t)
					o.state = unworked{store} // running jobs would write the state at the same time
					s := serve(t, o)
					secret := `,"secret":"` + hookSecret + `"`
					if scheme == "none" {
						secret = ""
					}
					want(
						t,
						s.do(
							t, "PUT", "/api/functions/f",
							fmt.Sprintf(`{"code":"1","hook":{"scheme":%q%s,"async":%t}}`, scheme, secret, async),
						),
						201,
					)
					taken := 0
					for n := range 20 {
						a := s.do(t, "POST", "/hooks/f", fmt.Sprint(n), signedAs(scheme, fmt.Sprint("msg_", n), fmt.Sprint(n))...)
						if a.StatusCode < 300 {
							taken++
							continue
						}
						if _, code := a.problem(t, 429); code != limit.code || a.Header.Get("Retry-After") == "" {
							t.Fatalf("%s %v", code, a.Header)
						}
					}
					if taken != 5 {
						t.Errorf("%d of 20 were taken, want 5", taken)
					}
				})
			}
		}
	}
}

// signedAs is signedFor with the ID of a message.
func signedAs(scheme, id, body string) []string {
	if scheme != "standard" {
		return signedFor(scheme, body)
	}
	at := fmt.Sprint(time.Now().Unix())
	sum := signature(hookSecret, id+"."+at+"."+body)
	return []string{
		"webhook-id: " + id, "webhook-timestamp: " + at, "webhook-signature: v1," + base64.StdEncoding.EncodeToString(sum),
	}
}

// A delivery that was refused because of a limit is not remembered, so that its sender may try again.
func TestLimitedDeliveryMayBeRetried(t *testing.T) {
	t.Parallel()
	s := kept(t, options{config: gateway.Config{Hooks: gateway.HooksConfig{Rate: 1}}})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"github","secret":"`+hookSecret+`"}}`), 201)
	want(t, s.do(t, "POST", "/hooks/f", "1", signedFor("github", "1")...), 200)
	for range 3 {
		if _, code := s.do(t, "POST", "/hooks/f", "2", signedFor("github", "2")...).problem(t, 429); code != "rate_limited" {
			t.Errorf("a second try is answered %s", code)
		}
	}
}

// recovering is a state in which every key was taken by a process that died.
type recovering struct{ gateway.State }

func (recovering) Begin(context.Context, execution.Key, string, time.Time, time.Time) (bool, string, []byte, error) {
	return true, "mark exec_0123456789", nil, nil
}

// A delivery that a process accepted before it died was charged then. Refusing it now would lose its execution.
func TestRecoveredDeliveryIsChargedOnce(t *testing.T) {
	t.Parallel()
	store := opened(t)
	s := serve(
		t, options{state: recovering{store}, invoke: mirror, config: gateway.Config{Hooks: gateway.HooksConfig{Rate: 1}}},
	)
	hook := `{"code":"1","hook":{"scheme":"github","secret":"` + hookSecret + `","async":true}}`
	want(t, s.do(t, "PUT", "/api/functions/f", hook), 201)
	for _, body := range []string{"1", "2", "3"} {
		want(t, s.do(t, "POST", "/hooks/f", body, signedFor("github", body)...), 202, `"id":"exec_0123456789"`)
	}
}

// A delivery without a valid signature costs the tenant nothing, and is bounded by the address of its sender.
func TestUnverifiedDeliveriesTakeNoQuota(t *testing.T) {
	t.Parallel()
	s := kept(t, options{max: 10, quotas: quotaOf(t, 3), config: gateway.Config{Hooks: gateway.HooksConfig{Rate: 2}}})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"github","secret":"`+hookSecret+`"}}`), 201)
	forged := "X-Hub-Signature-256: sha256=" + hex.EncodeToString(signature("another secret of 16 bytes", "{}"))
	first := signedFor("github", "1")
	want(t, s.do(t, "POST", "/hooks/f", "1", first...), 200)
	statuses := map[int]int{}
	for n := range 30 {
		statuses[s.do(t, "POST", "/hooks/f", "{}", forged).StatusCode]++
		if n < 5 { // a delivery that was overheard and is sent again
			statuses[s.do(t, "POST", "/hooks/f", "1", first...).StatusCode]++
		}
	}
	if statuses[429] == 0 || statuses[401]+statuses[200] != 10 {
		t.Errorf("%v", statuses)
	}
	want(t, s.do(t, "POST", "/hooks/f", "2", signedFor("github", "2")...), 200)
}

// Dry runs, redeliveries and repeated requests with a key all count.
func TestDryRunsAreLimited(t *testing.T) {
	t.Parallel()
	limited := options{config: gateway.Config{Hooks: gateway.HooksConfig{Rate: 3}}}
	hook := `{"code":"1","hook":{"scheme":"none"}}`
	for name, ask := range map[string]func(t *testing.T, s *served, id string) answer{
		"dry run": func(t *testing.T, s *served, _ string) answer {
			return s.do(t, "POST", "/api/functions/f/hook/dry-run", `{"sample":"json"}`)
		},
		"redelivery": func(t *testing.T, s *served, id string) answer {
			return s.do(t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"`+id+`"}`)
		},
		"with a key": func(t *testing.T, s *served, _ string) answer {
			return s.do(t, "POST", "/hooks/f", "{}", "Idempotency-Key: k")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := kept(t, limited)
			want(t, s.do(t, "PUT", "/api/functions/f", hook), 201)
			id := want(t, s.do(t, "POST", "/hooks/f", "{}"), 200).Header.Get("X-Execution-Id")
			for n := range 4 {
				a := ask(t, s, id)
				if want := n >= 2; (a.StatusCode == 429) != want || want && a.Header.Get("Retry-After") == "" {
					t.Errorf("%d: %d %s", n, a.StatusCode, a.body)
				}
			}
		})
	}
}

// A stored secret that could be guessed verifies nothing, and saving the function again does not keep it.
func TestStoredShortSecret(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"github","secret":"`+hookSecret+`"}}`), 201)
	for _, secret := range []string{"", " ", "a", "whsec_"} {
		err := s.state.Change(t.Context(), "default", "f", func(
			f *execution.SavedFunction,
		) (*execution.FunctionContent, error) {
			f.Hook.Secret = secret
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		signed := "X-Hub-Signature-256: sha256=" + hex.EncodeToString(signature(secret, "{}"))
		s.do(t, "POST", "/hooks/f", "{}", signed).problem(t, 401)
		s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"github"}}`).problem(t, 400)
		s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"github","secret":"whsec_"}}`).problem(t, 400)
	}
}

// If the deployment gives webhooks a host of their own, that host serves nothing else, and no other host serves them.
func TestHooksHost(t *testing.T) {
	t.Parallel()
	s := kept(t, options{config: gateway.Config{Hooks: gateway.HooksConfig{Host: "hooks.localhost"}}})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none"}}`), 201)
	for _, host := range []string{"hooks.localhost", "HOOKS.localhost:1234", "hooks.localhost."} {
		want(t, s.do(t, "POST", "/hooks/f", "{}", "Host: "+host), 200)
		for _, path := range []string{
			"/", "/login", "/dashboard", "/healthz", "/api/stats", "/metrics", "/docs", "/assets/base.css", "/hooks",
			"/hooks/../api/stats", "/hooks/%2e%2e/api/stats",
		} {
			s.do(t, "GET", path, "", "Host: "+host).problem(t, 404)
		}
	}
	for _, host := range []string{"localhost", "127.0.0.1", "hooks.localhost.localhost", "hooks.localhost:1:2"} {
		if a := s.do(t, "POST", "/hooks/f", "{}", "Host: "+host); a.StatusCode < 400 {
			t.Errorf("%s: %d", host, a.StatusCode)
		}
	}
	s.do(t, "POST", "/hooks/f", "{}").problem(t, 404)
	want(t, s.do(t, "GET", "/healthz", ""), 200)
}

// The same with a listener: the port decides, whatever the Host header says.
func TestHooksListener(t *testing.T) {
	t.Parallel()
	s := kept(t, options{auth: authn.Config{APIKey: apiKey}})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none"}}`, bearer(apiKey)), 201)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.KeepHooksApart(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.ServeHooks(l) }()
	ask := func(method, path, host string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+l.Addr().String()+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+apiKey)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		return res.StatusCode
	}
	for _, host := range []string{"", s.addr, "localhost"} {
		if got := ask("POST", "/hooks/f", host); got != 200 {
			t.Errorf("%q: %d", host, got)
		}
		for _, path := range []string{"/api/stats", "/login", "/healthz", "/hooks/../api/stats"} {
			if got := ask("GET", path, host); got != 404 {
				t.Errorf("%s of %q: %d", path, host, got)
			}
		}
	}
	s.do(t, "POST", "/hooks/f", "{}", "Host: "+l.Addr().String()).problem(t, 404)
	want(t, s.do(t, "GET", "/api/stats", "", bearer(apiKey)), 200)
	http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
