package authn

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Config says which credentials are valid. With neither an API key nor a key, every caller is the local user, and the
// gateway serves on a loopback address only.
type Config struct {
	APIKey   string
	Keys     []Key  // at most one per algorithm
	Issuer   string // compared with iss when set
	Audience string // must be among aud when set
	// Providers are identity providers whose keys are fetched from a URL. A provider that names no issuer must be the
	// only one.
	Providers []*Provider
	// TenantClaim is the claim that names the tenant; "" means "tenant".
	TenantClaim string
	Now         func() time.Time
}

// An Authenticator recognizes callers. It is safe for concurrent use.
type Authenticator struct {
	apiKey [sha256.Size]byte
	hasKey bool
	tokens map[string]*verifier

	providers   []*provided
	tenantClaim string
}

// Refusal is the error of a credential that was not accepted. Reason is one line that is safe to show.
type Refusal struct {
	Reason string
	// Absent is true if there was no credential at all.
	Absent bool
	// Genuine is true if the credential was issued by whom it should be, and is not accepted: it has expired, for
	// example.
	Genuine bool
	// Unavailable is true if the credential may be valid, but the keys to check it with are not available now.
	Unavailable bool
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

// New checks the configuration and returns an Authenticator.
func New(cfg Config) (*Authenticator, error) {
	a := &Authenticator{tokens: make(map[string]*verifier, len(cfg.Keys))}
	if cfg.APIKey != "" {
		if err := CheckAPIKey(cfg.APIKey); err != nil {
			return nil, fmt.Errorf("authn: the API key %w", err)
		}
		a.apiKey, a.hasKey = sha256.Sum256([]byte(cfg.APIKey)), true
	}
	if cfg.Now == nil {
		return nil, errors.New("authn: a clock is needed")
	}
	for _, k := range cfg.Keys {
		if k.algorithm == "" {
			return nil, errors.New("authn: a key without an algorithm verifies nothing")
		}
		if a.tokens[k.algorithm] != nil {
			return nil, errors.New("authn: two keys for " + k.algorithm)
		}
		a.tokens[k.algorithm] = newVerifier(k, cfg)
	}
	if a.tenantClaim = cfg.TenantClaim; a.tenantClaim == "" {
		a.tenantClaim = "tenant"
	}
	for _, p := range cfg.Providers {
		if p.cfg.Issuer == "" && len(cfg.Providers) > 1 {
			return nil, errors.New("authn: each of several providers must name its issuer")
		}
		a.providers = append(a.providers, newProvided(p, cfg))
	}
	return a, nil
}

// Open reports whether no credential is configured.
func (a *Authenticator) Open() bool { return !a.hasKey && len(a.tokens) == 0 && len(a.providers) == 0 }

// Authenticate recognizes the caller by the values of the headers Authorization ("Bearer …", the API key or a token)
// and X-API-Key. If both are present, Authorization counts. The error is always a *Refusal.
func (a *Authenticator) Authenticate(authorization, apiKey string) (Identity, error) {
	if a.Open() {
		return Local(), nil
	}
	if authorization == "" {
		if apiKey == "" {
			return Identity{}, &Refusal{
				Absent: true, Reason: "credentials are required: send Authorization: Bearer <token or API key>",
			}
		}
		if a.isAPIKey(apiKey) {
			return Operator(), nil
		}
		return Identity{}, &Refusal{Reason: "the API key is not valid"}
	}
	scheme, credential, _ := strings.Cut(authorization, " ")
	credential = strings.TrimSpace(credential)
	if !strings.EqualFold(scheme, "Bearer") || credential == "" {
		return Identity{}, &Refusal{Reason: "the Authorization header must be: Bearer <token or API key>"}
	}
	if a.isAPIKey(credential) {
		return Operator(), nil
	}
	if len(a.tokens) == 0 && len(a.providers) == 0 {
		return Identity{}, &Refusal{Reason: "the API key is not valid"}
	}
	return a.token(credential)
}

// isAPIKey reports whether a text is the API key. It takes the same time for every text, because it compares digests
// of equal size.
func (a *Authenticator) isAPIKey(s string) bool {
	sum := sha256.Sum256([]byte(s))
	return subtle.ConstantTimeCompare(sum[:], a.apiKey[:]) == 1 && a.hasKey
}
