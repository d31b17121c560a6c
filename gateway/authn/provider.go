package authn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"golang.org/x/time/rate"
)

const (
	// refreshEvery is how long a key that was withdrawn may still be good.
	refreshEvery = 15 * time.Minute
	// askAgain is the shortest pause between questions that callers cause: tokens with made-up key ids cost the identity
	// provider no more than one request in that time.
	askAgain     = 10 * time.Second
	fetchTimeout = 5 * time.Second
	maxDocument  = 1 << 20
)

// ProviderConfig names an identity provider whose keys are had by URL.
type ProviderConfig struct {
	// Issuer is compared with iss. It may be empty where KeysURL is set: any iss is then good.
	Issuer string
	// KeysURL is where the JWK set is; "" asks the OpenID configuration of Issuer for it.
	KeysURL string
	// HTTP fetches; default a client of its own that follows no redirects.
	HTTP *http.Client
	Now  func() time.Time
	Log  *slog.Logger
}

// Provider is an identity provider and the keys that it signs with now. The keys are fetched when it is made, every 15
// minutes, and when a token names one that is not known, at most once in 10 seconds. When fetching fails the keys stay as
// they are; while there have never been any, tokens are refused with a Refusal that is Unavailable. A Provider is safe for
// concurrent use.
type Provider struct {
	cfg ProviderConfig
	ctx context.Context // ends the refreshing, which outlives every call

	mu    sync.Mutex
	keys  keyfunc.Keyfunc // nil until the URL is known
	store jwkset.Storage
	retry time.Time // of the discovery that failed
}

// NewProvider checks the configuration and fetches for the first time. A provider that cannot be reached is no error: it
// is asked again. Refreshing ends with ctx.
func NewProvider(ctx context.Context, cfg ProviderConfig) (*Provider, error) {
	from := cfg.KeysURL
	if from == "" {
		from = cfg.Issuer
	}
	if err := CheckProviderURL(from); err != nil {
		return nil, err
	}
	if cfg.Now == nil || cfg.Log == nil {
		return nil, errors.New("authn: a provider needs a clock and a logger")
	}
	client := cfg.HTTP
	if client == nil {
		client = &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") },
		}
	}
	bounded := *client
	bounded.Timeout, bounded.Transport = fetchTimeout, short{client.Transport}
	cfg.HTTP = &bounded
	p := &Provider{cfg: cfg, ctx: ctx}
	p.keyfunc()
	return p, nil
}

// CheckProviderURL takes https, and http of this machine.
func CheckProviderURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%q is not a URL such as https://id.example.com", text)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q must be https: whoever can change what it answers can make tokens", text)
	}
	return nil
}

// keyfunc gives what finds keys, once it is known where they are.
func (p *Provider) keyfunc() (keyfunc.Keyfunc, jwkset.Storage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys != nil || p.cfg.Now().Before(p.retry) {
		return p.keys, p.store
	}
	if err := p.open(); err != nil {
		p.retry = p.cfg.Now().Add(askAgain)
		p.cfg.Log.Warn("the identity provider does not say where its keys are", "issuer", p.cfg.Issuer, "error", err)
	}
	return p.keys, p.store
}

// open finds the URL and fetches from it; the lock is held.
func (p *Provider) open() error {
	keysURL := p.cfg.KeysURL
	if keysURL == "" {
		var err error
		if keysURL, err = p.discover(); err != nil {
			return err
		}
	}
	remote, err := jwkset.NewStorageFromHTTP(keysURL, jwkset.HTTPClientStorageOptions{
		Client: p.cfg.HTTP, Ctx: p.ctx, HTTPTimeout: fetchTimeout, NoErrorReturnFirstHTTPReq: true, RefreshInterval: refreshEvery,
		RefreshErrorHandler: func(_ context.Context, err error) {
			p.cfg.Log.Warn("the identity provider's keys stay as they were", "issuer", p.cfg.Issuer, "error", err)
		},
	})
	if err != nil {
		return err
	}
	// The wait bounds the fetching too. Who would wait longer than it for their turn is refused at once.
	store, err := jwkset.NewHTTPClient(jwkset.HTTPClientOptions{
		HTTPURLs: map[string]jwkset.Storage{keysURL: remote}, RateLimitWaitMax: fetchTimeout,
		RefreshUnknownKID: rate.NewLimiter(rate.Every(askAgain), 1),
	})
	if err != nil {
		return err
	}
	keys, err := keyfunc.New(keyfunc.Options{Ctx: p.ctx, Storage: store, UseWhitelist: []jwkset.USE{jwkset.UseSig, ""}})
	if err != nil {
		return err
	}
	p.keys, p.store = keys, remote
	return nil
}

// discover asks the OpenID configuration (OpenID Connect Discovery 1.0 §4) where the keys are.
func (p *Provider) discover() (string, error) {
	r, err := http.NewRequestWithContext(p.ctx, http.MethodGet, strings.TrimSuffix(p.cfg.Issuer, "/")+"/.well-known/openid-configuration", nil)
	if err != nil {
		return "", err
	}
	res, err := p.cfg.HTTP.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close() // only read
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the OpenID configuration is answered with %s", res.Status)
	}
	var doc struct {
		Issuer  string `json:"issuer"`
		KeysURL string `json:"jwks_uri"`
	}
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		return "", fmt.Errorf("the OpenID configuration: %w", err)
	}
	if doc.Issuer != p.cfg.Issuer {
		return "", fmt.Errorf("the OpenID configuration is that of %q, which is not the issuer named", doc.Issuer)
	}
	return doc.KeysURL, CheckProviderURL(doc.KeysURL)
}

// short bounds what is read of an answer.
type short struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s short) RoundTrip(r *http.Request) (*http.Response, error) {
	next := s.next
	if next == nil {
		next = http.DefaultTransport
	}
	res, err := next.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxDocument), res.Body}
	}
	return res, err
}
