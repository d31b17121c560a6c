package authn_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"

	"github.com/airlock-run/airlock/gateway/authn"
)

// slowIDP publishes keys, and delays each response until it is released.
type slowIDP struct {
	*httptest.Server
	asked  atomic.Int64
	held   atomic.Bool
	begun  chan struct{}
	give   chan struct{}
	mu     sync.Mutex
	answer []byte
}

func newSlowIDP(t *testing.T) *slowIDP {
	t.Helper()
	p := &slowIDP{begun: make(chan struct{}, 100), give: make(chan struct{})}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.asked.Add(1)
		p.mu.Lock()
		answer := p.answer
		p.mu.Unlock()
		if p.held.Load() {
			p.begun <- struct{}{}
			select {
			case <-p.give:
			case <-t.Context().Done():
			}
		}
		_, _ = w.Write(answer)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *slowIDP) publish(keys ...signer) {
	var texts []string
	for _, k := range keys {
		texts = append(texts, string(k.public))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = []byte(`{"keys":[` + strings.Join(texts, ",") + `]}`)
}

// Of many callers with a key that was published a moment ago, none is refused, and the provider is asked once.
func TestRotationUnderLoad(t *testing.T) {
	t.Parallel()
	p := newSlowIDP(t)
	before, after := newSigner(t, "before", jwkset.JWKMetadataOptions{}), newSigner(
		t, "after", jwkset.JWKMetadataOptions{},
	)
	p.publish(before)
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{
		Providers: []*authn.Provider{provider(t, authn.ProviderConfig{Issuer: p.URL, KeysURL: p.URL})}, Now: clock,
	}))
	p.publish(before, after)
	p.held.Store(true)
	const callers = 100
	var all sync.WaitGroup
	got := make(chan string, callers)
	token := after.token(t, p.URL)
	for range callers {
		all.Go(func() { got <- accepted(t, a, token) })
	}
	<-p.begun
	// Callers with a known key do not wait.
	if got := accepted(t, a, before.token(t, p.URL)); got != "acme" {
		t.Error("a key that is known:", got)
	}
	close(p.give)
	all.Wait()
	close(got)
	for tenant := range got {
		if tenant != "acme" {
			t.Error("a key that was rotated in:", tenant)
		}
	}
	if n := p.asked.Load(); n != 2 {
		t.Errorf("the provider was asked %d times", n)
	}
}

// Tokens with made-up keys cost the provider one request in ten seconds, and do not delay others.
func TestUnknownKeyFlood(t *testing.T) {
	t.Parallel()
	p := newSlowIDP(t)
	good := newSigner(t, "good", jwkset.JWKMetadataOptions{})
	p.publish(good)
	var late atomic.Int64
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{Now: clock, Providers: []*authn.Provider{
		provider(
			t,
			authn.ProviderConfig{
				Issuer: p.URL, KeysURL: p.URL, Now: func() time.Time { return now.Add(time.Duration(late.Load())) },
			},
		),
	}}))
	for round := range 3 {
		late.Store(int64(round) * int64(10*time.Second))
		for i := range 100 {
			token := sign(t, good.method, good.key, map[string]any{"kid": fmt.Sprint("made up ", i)}, with("iss", p.URL))
			if got := accepted(t, a, token); !strings.Contains(got, "does not publish") {
				t.Fatal(got)
			}
		}
		if n := p.asked.Load(); n != int64(round)+2 {
			t.Errorf("round %d: the provider was asked %d times", round, n)
		}
	}
	// A clock that is set back does not stop fetching permanently.
	late.Store(-int64(24 * time.Hour))
	fresh := newSigner(t, "fresh", jwkset.JWKMetadataOptions{})
	p.publish(good, fresh)
	if got := accepted(t, a, fresh.token(t, p.URL)); got != "acme" {
		t.Error("after the clock was set back:", got)
	}
}

// A key set that is too large, or has a key that is expensive to check, changes nothing.
func TestHostileKeys(t *testing.T) {
	t.Parallel()
	good := newSigner(t, "good", jwkset.JWKMetadataOptions{})
	many := make([]signer, 101)
	for i := range many {
		many[i] = good
	}
	huge := signer{public: []byte(`{"kty":"RSA","kid":"huge","e":"AQAB","n":"` + strings.Repeat("_", 4<<10) + `"}`)}
	for name, keys := range map[string][]signer{
		"101 keys": many, "a huge key": {good, huge},
		"a broken key": {good, {public: []byte(`{"kty":"EC","kid":"x","crv":"P-256","x":"AA","y":"AA"}`)}},
	} {
		p := newSlowIDP(t)
		p.publish(good)
		var late atomic.Int64
		a := must[*authn.Authenticator](t)(authn.New(authn.Config{Now: clock, Providers: []*authn.Provider{
			provider(
				t,
				authn.ProviderConfig{
					Issuer: p.URL, KeysURL: p.URL, Now: func() time.Time { return now.Add(time.Duration(late.Load())) },
				},
			),
		}}))
		p.publish(keys...)
		late.Store(int64(time.Minute))
		unknown := sign(t, good.method, good.key, map[string]any{"kid": "huge"}, with("iss", p.URL))
		if got := accepted(t, a, unknown); !strings.Contains(got, "does not publish") {
			t.Errorf("%s: %s", name, got)
		}
		if got := accepted(t, a, good.token(t, p.URL)); got != "acme" {
			t.Errorf("%s: the key that was known: %s", name, got)
		}
		if n := p.asked.Load(); n != 2 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
}

// The provider says where its keys are, so that host must be public or opened.
func TestDiscoveryObeysEgress(t *testing.T) {
	t.Parallel()
	good := newSigner(t, "good", jwkset.JWKMetadataOptions{})
	inside := newSlowIDP(t)
	inside.publish(good)
	var elsewhere atomic.Value
	p := httptest.NewUnstartedServer(nil)
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": p.URL, "jwks_uri": elsewhere.Load().(string)})
	})
	p.Start()
	t.Cleanup(p.Close)
	port := inside.URL[strings.LastIndexByte(inside.URL, ':'):]
	for name, c := range map[string]struct {
		keys   string
		opened []string
		want   string
	}{
		"another port of this machine": {inside.URL, nil, "unavailable"},
		"by name":                      {"http://localhost" + port, nil, "unavailable"},
		"metadata":                     {"https://169.254.169.254/", nil, "unavailable"},
		"opened":                       {inside.URL, []string{"127.0.0.1" + port}, "acme"},
	} {
		elsewhere.Store(c.keys)
		before := inside.asked.Load()
		a := must[*authn.Authenticator](t)(
			authn.New(
				authn.Config{
					Now: clock, Providers: []*authn.Provider{provider(t, authn.ProviderConfig{Issuer: p.URL, Opened: c.opened})},
				},
			),
		)
		if got := accepted(t, a, good.token(t, p.URL)); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if asked := inside.asked.Load() > before; asked != (c.want == "acme") {
			t.Errorf("%s: the inside was asked: %v", name, asked)
		}
	}
}
