package authn_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"

	"github.com/airlock-run/airlock/gateway/authn"
)

// idp is an identity provider over a real socket.
type idp struct {
	*httptest.Server
	asked  atomic.Int64 // for keys
	mu     sync.Mutex
	keys   []byte
	down   bool
	issuer string
}

func newIDP(t testing.TB) *idp {
	t.Helper()
	p := &idp{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.down {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			_ = json.NewEncoder(w).Encode(map[string]string{"issuer": p.issuer, "jwks_uri": p.URL + "/keys"})
		case "/keys":
			p.asked.Add(1)
			_, _ = w.Write(p.keys)
		default:
			http.NotFound(w, r)
		}
	}))
	p.issuer = p.URL
	t.Cleanup(p.Close)
	return p
}

func (p *idp) set(down bool, keys ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	if keys != nil {
		p.keys = append(append([]byte(`{"keys":[`), bytes.Join(keys, []byte(","))...), "]}"...)
	}
}

// signer is a key of a provider, and how it is published.
type signer struct {
	kid    string
	method jwt.SigningMethod
	key    any
	public []byte
}

func newSigner(t testing.TB, kid string, options jwkset.JWKMetadataOptions) signer {
	t.Helper()
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	return published(t, kid, jwt.SigningMethodES256, key, key.Public(), options)
}

func published(
	t testing.TB, kid string, method jwt.SigningMethod, key, public any, options jwkset.JWKMetadataOptions,
) signer {
	t.Helper()
	options.KID = kid
	jwk := must[jwkset.JWK](t)(jwkset.NewJWKFromKey(public, jwkset.JWKOptions{Metadata: options}))
	return signer{kid, method, key, must[[]byte](t)(json.Marshal(jwk.Marshal()))}
}

func (s signer) token(t testing.TB, issuer string) string {
	t.Helper()
	return sign(t, s.method, s.key, map[string]any{"kid": s.kid}, with("iss", issuer))
}

func provider(t testing.TB, cfg authn.ProviderConfig) *authn.Provider {
	t.Helper()
	cfg.Log = slog.New(slog.DiscardHandler)
	if cfg.Now == nil {
		cfg.Now = clock
	}
	return must[*authn.Provider](t)(authn.NewProvider(t.Context(), cfg))
}

func accepted(t testing.TB, a *authn.Authenticator, token string) string {
	t.Helper()
	id, err := a.Authenticate("Bearer "+token, "")
	if err == nil {
		return id.Tenant
	}
	var refusal *authn.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("the error is a %T", err)
	}
	if refusal.Unavailable {
		return "unavailable"
	}
	return refusal.Reason
}

func TestProvider(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	first, second, third := newSigner(t, "1", jwkset.JWKMetadataOptions{}),
		newSigner(t, "2", jwkset.JWKMetadataOptions{}), newSigner(t, "3", jwkset.JWKMetadataOptions{})
	p.set(false, first.public)
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{
		Providers: []*authn.Provider{provider(t, authn.ProviderConfig{Issuer: p.URL})}, Now: clock,
	}))
	if a.Open() {
		t.Error("a gateway with a provider is open")
	}
	for range 20 {
		if got := accepted(t, a, first.token(t, p.URL)); got != "acme" {
			t.Fatal(got)
		}
	}
	if n := p.asked.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
	// Rotation: an unknown key is fetched at once, and a withdrawn key is no longer valid.
	p.set(false, second.public)
	if got := accepted(t, a, second.token(t, p.URL)); got != "acme" {
		t.Error("after rotation:", got)
	}
	if got := accepted(t, a, first.token(t, p.URL)); !strings.Contains(got, "does not publish") {
		t.Error("withdrawn:", got)
	}
	// An outage: known keys stay valid, and made-up keys do not make it worse.
	p.set(true)
	asked := p.asked.Load()
	for range 50 {
		if got := accepted(t, a, third.token(t, p.URL)); !strings.Contains(got, "does not publish") {
			t.Fatal("unknown:", got)
		}
	}
	if got := accepted(t, a, second.token(t, p.URL)); got != "acme" {
		t.Error("in an outage:", got)
	}
	if n := p.asked.Load() - asked; n > 1 {
		t.Errorf("50 unknown keys were asked for %d times", n)
	}
}

// A provider that is down when the gateway starts is found later. Until then, no valid token is called invalid.
func TestProviderDownAtStart(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	s := newSigner(t, "1", jwkset.JWKMetadataOptions{})
	p.set(true, s.public)
	var late atomic.Int64
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{
		Providers: []*authn.Provider{
			provider(
				t, authn.ProviderConfig{Issuer: p.URL, Now: func() time.Time { return now.Add(time.Duration(late.Load())) }},
			),
		}, Now: clock,
	}))
	if got := accepted(t, a, s.token(t, p.URL)); got != "unavailable" {
		t.Error(got)
	}
	p.set(false)
	late.Store(int64(time.Minute))
	if got := accepted(t, a, s.token(t, p.URL)); got != "acme" {
		t.Error(got)
	}
}

func TestProviderRefusals(t *testing.T) {
	t.Parallel()
	p, other := newIDP(t), newIDP(t)
	good, theirs := newSigner(t, "1", jwkset.JWKMetadataOptions{}), newSigner(t, "1", jwkset.JWKMetadataOptions{})
	encryption := newSigner(t, "enc", jwkset.JWKMetadataOptions{USE: jwkset.UseEnc})
	edPublic, edPrivate, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ed := published(t, "ed", jwt.SigningMethodEdDSA, edPrivate, edPublic, jwkset.JWKMetadataOptions{})
	shared := signer{"oct", jwt.SigningMethodHS256, []byte(secret), nil}
	oct := []byte(
		`{"kty":"oct","kid":"oct","alg":"HS256","k":"YSBzZWNyZXQgb2YgdGhlIHRlc3RzIHdpdGggMzIgYnl0ZXMgb3IgbW9yZQ"}`,
	)
	p.set(false, good.public, encryption.public, ed.public, oct)
	other.set(false, theirs.public)
	lying := newIDP(t)
	lying.issuer = p.URL
	lying.set(false, theirs.public)
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{Now: clock, TenantClaim: "https://acme.example/org",
		Providers: []*authn.Provider{
			provider(t, authn.ProviderConfig{Issuer: p.URL}),
			provider(t, authn.ProviderConfig{Issuer: other.URL, KeysURL: other.URL + "/keys"}),
			provider(t, authn.ProviderConfig{Issuer: lying.URL}),
		}}))
	claims := with("iss", p.URL)
	claims["https://acme.example/org"] = "globex"
	for name, c := range map[string]struct{ token, want string }{
		"tenant by the claim named": {sign(t, good.method, good.key, map[string]any{"kid": "1"}, claims), "globex"},
		"without it":                {good.token(t, p.URL), authn.DefaultTenant},
		"Ed25519":                   {ed.token(t, p.URL), authn.DefaultTenant},
		"the second provider":       {theirs.token(t, other.URL), authn.DefaultTenant},
		"one for the other":         {theirs.token(t, p.URL), "the token's signature is not valid"},
		"unknown issuer":            {good.token(t, "https://evil.example"), "the token's iss is not one accepted here"},
		"no issuer": {
			sign(t, good.method, good.key, map[string]any{"kid": "1"}, with("iss", nil)),
			"the token's iss is not one accepted here",
		},
		"no key id": {
			sign(t, good.method, good.key, nil, with("iss", p.URL)),
			"the token is signed with a key that its issuer does not publish",
		},
		"a key for encryption": {
			encryption.token(t, p.URL), "the token is signed with a key that its issuer does not publish",
		},
		"a shared secret": {
			shared.token(t, p.URL), "the token is signed with an algorithm that is not accepted here",
		},
		"a configuration of others": {theirs.token(t, lying.URL), "unavailable"},
	} {
		if got := accepted(t, a, c.token); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestProviderURLs(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{
		"https://id.example.com": true, "http://127.0.0.1:9": true, "http://localhost:9": true, "http://[::1]:9": true,
		"http://id.example.com": false, "id.example.com": false, "": false, "https://user@id.example.com": false,
		"file:///etc/passwd": false,
	} {
		if err := authn.CheckProviderURL(url); (err == nil) != good {
			t.Errorf("%q: %v", url, err)
		}
	}
}
