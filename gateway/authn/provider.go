package authn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/MicahParks/keyfunc/v3"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/outbound"
)

const (
	// refreshEvery is how long a key that was withdrawn may still be valid.
	refreshEvery = 15 * time.Minute
	// askAgain is the shortest pause between fetches that callers cause. Tokens with made-up key IDs cost the identity
	// provider at most one request in that time.
	askAgain     = 10 * time.Second
	fetchTimeout = 5 * time.Second
	maxDocument  = 1 << 20
	maxKeys      = 100
	// maxWaiting is how many callers may wait for keys at once.
	maxWaiting = 256
)

// ProviderConfig names an identity provider whose keys are fetched from a URL.
type ProviderConfig struct {
	// Issuer is compared with iss. It may be empty if KeysURL is set; any iss is then valid.
	Issuer string
	// KeysURL is where the JWK set is. If empty, the OpenID configuration of Issuer says where.
	KeysURL string
	// Opened are hosts that may be private. The hosts of Issuer and KeysURL may be, too; a host that only the OpenID
	// configuration names may not.
	Opened address.Hosts
	// Proxy chooses a proxy, as in http.Transport; nil means none.
	Proxy func(*http.Request) (*url.URL, error)
	Now   func() time.Time
	Log   *slog.Logger
}

// Provider is an identity provider and its current keys. The keys are fetched when it is created, every 15 minutes,
// and when a token names an unknown key, at most once in 10 seconds. Callers that need them meanwhile wait for the
// fetch that is under way. If a fetch fails, the keys stay as they are; until the first fetch has succeeded, tokens
// are refused with a Refusal that is Unavailable. A Provider is safe for concurrent use.
type Provider struct {
	cfg     ProviderConfig
	ctx     context.Context // ends the refreshing, which outlives every call
	client  *http.Client
	waiting chan struct{} // a place for each caller that waits

	mu      sync.Mutex
	keysURL string          // "" until it is discovered
	keys    keyfunc.Keyfunc // nil until they were fetched
	flight  chan struct{}   // closed when the fetch that is under way ends; nil when none is
	asked   time.Time       // when a caller last caused a fetch
}

// NewProvider checks the configuration and fetches the keys for the first time. A provider that cannot be reached is
// not an error: it is asked again. Refreshing ends with ctx.
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
	dialer := address.Dialer{Opened: append(address.Named(cfg.Issuer, cfg.KeysURL), cfg.Opened...), Timeout: fetchTimeout}
	limits := outbound.Limits{Body: maxDocument, Total: fetchTimeout, Connections: 2}
	p := &Provider{
		cfg: cfg, ctx: ctx, keysURL: cfg.KeysURL, waiting: make(chan struct{}, maxWaiting),
		client: limits.Client(outbound.Options{Dial: dialer.DialContext, Proxy: cfg.Proxy}),
	}
	<-p.refresh()
	if p.known() == nil {
		p.asked = cfg.Now() // the first caller need not find out the same
	}
	go p.follow()
	return p, nil
}

// follow refreshes the keys until the provider's context ends.
func (p *Provider) follow() {
	again := time.NewTicker(refreshEvery)
	defer again.Stop()
	for {
		select {
		case <-p.ctx.Done():
			p.client.CloseIdleConnections()
			return
		case <-again.C:
			<-p.refresh()
		}
	}
}

// CheckProviderURL reports why a URL is neither https nor http of this machine.
func CheckProviderURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%q is not a URL such as https://id.example.com", text)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" &&
		(ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q must be https: anyone who can change its responses can forge tokens", text)
	}
	return nil
}
