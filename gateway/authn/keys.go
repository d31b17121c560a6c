package authn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

// find returns the key that a token's header names. It fetches the keys if the key is not known and a fetch is
// allowed now.
func (p *Provider) find(token *jwt.Token) (any, error) {
	key, err := p.look(token)
	if err == nil || !errors.Is(err, errNoKeys) && !errors.Is(err, jwkset.ErrKeyNotFound) {
		return key, err
	}
	if fetched := p.refreshFor(); fetched != nil && !p.wait(fetched) {
		return nil, errNoKeys
	}
	return p.look(token) // another caller may have had them fetched since
}

func (p *Provider) look(token *jwt.Token) (any, error) {
	keys := p.known()
	if keys == nil {
		return nil, errNoKeys
	}
	return keys.KeyfuncCtx(p.ctx)(token)
}

func (p *Provider) known() keyfunc.Keyfunc {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys
}

// wait returns when a fetch has ended. It reports false if the fetch did not end in time, or too many callers wait
// for it.
func (p *Provider) wait(fetched <-chan struct{}) bool {
	select {
	case p.waiting <- struct{}{}:
		defer func() { <-p.waiting }()
	default:
		return false
	}
	enough := time.NewTimer(2 * fetchTimeout)
	defer enough.Stop()
	select {
	case <-fetched:
		return true
	case <-enough.C:
		return false
	}
}

// refreshFor fetches the keys for a caller. It returns nil if a caller caused a fetch a moment ago.
func (p *Provider) refreshFor() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flight != nil {
		return p.flight
	}
	if since := p.cfg.Now().Sub(p.asked); since >= 0 && since < askAgain {
		return nil
	}
	p.asked = p.cfg.Now()
	return p.depart()
}

// refresh fetches the keys.
func (p *Provider) refresh() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flight != nil {
		return p.flight
	}
	return p.depart()
}

// depart begins a fetch. The lock is held.
func (p *Provider) depart() <-chan struct{} {
	landed, keysURL := make(chan struct{}), p.keysURL
	p.flight = landed
	go func() {
		keysURL, keys, err := p.fetch(keysURL)
		p.mu.Lock()
		p.flight = nil
		if err == nil {
			p.keysURL, p.keys = keysURL, keys
		}
		p.mu.Unlock()
		if err != nil && p.ctx.Err() == nil {
			p.cfg.Log.Warn("the identity provider's keys could not be refreshed", "issuer", p.cfg.Issuer, "error", err)
		}
		close(landed)
	}()
	return landed
}

// fetch finds out where the keys are, if that is not known, and reads them.
func (p *Provider) fetch(keysURL string) (string, keyfunc.Keyfunc, error) {
	var err error
	if keysURL == "" {
		if keysURL, err = p.discover(); err != nil {
			return "", nil, err
		}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"` // decoded after they are counted
	}
	if err := p.get(keysURL, "the JWK set", &set); err != nil {
		return "", nil, err
	}
	if len(set.Keys) > maxKeys {
		return "", nil, fmt.Errorf("the JWK set has %d keys; at most %d are accepted", len(set.Keys), maxKeys)
	}
	store, usable := jwkset.NewMemoryStorage(), 0
	for _, text := range set.Keys {
		var published jwkset.JWKMarshal
		if err := json.Unmarshal(text, &published); err != nil {
			return "", nil, fmt.Errorf("a key of the JWK set: %w", err)
		}
		jwk, err := publicKey(published)
		if errors.Is(err, jwkset.ErrUnsupportedKey) {
			continue
		}
		if err != nil {
			return "", nil, fmt.Errorf("a key of the JWK set: %w", err)
		}
		if err := store.KeyWrite(p.ctx, jwk); err != nil {
			return "", nil, fmt.Errorf("keep a key of the JWK set: %w", err)
		}
		usable++
	}
	if usable == 0 {
		return keysURL, nil, nil // all were withdrawn
	}
	keys, err := keyfunc.New(keyfunc.Options{Ctx: p.ctx, Storage: store, UseWhitelist: []jwkset.USE{jwkset.UseSig, ""}})
	return keysURL, keys, err
}

// discover asks the OpenID configuration (OpenID Connect Discovery 1.0 §4) where the keys are.
func (p *Provider) discover() (string, error) {
	var doc struct {
		Issuer  string `json:"issuer"`
		KeysURL string `json:"jwks_uri"`
	}
	if err := p.get(
		strings.TrimSuffix(p.cfg.Issuer, "/")+"/.well-known/openid-configuration", "the OpenID configuration", &doc,
	); err != nil {
		return "", err
	}
	if doc.Issuer != p.cfg.Issuer {
		return "", fmt.Errorf("the OpenID configuration names the issuer %.200q, not the configured one", doc.Issuer)
	}
	return doc.KeysURL, CheckProviderURL(doc.KeysURL)
}

// get reads one JSON document.
func (p *Provider) get(from, what string, into any) error {
	ctx, cancel := context.WithTimeout(p.ctx, fetchTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return fmt.Errorf("request %s: %w", what, err)
	}
	r.Header.Set("Accept", "application/json, application/jwk-set+json")
	res, err := p.client.Do(r)
	if err != nil {
		return fmt.Errorf("request %s: %w", what, err)
	}
	defer res.Body.Close() // only read
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the request for %s returned %s", what, res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return nil
}
