package wiring

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// authenticator returns the authenticator that the settings describe. It refreshes the keys of identity providers
// until ctx ends. opened are the hosts that EGRESS_ALLOW opens.
func authenticator(ctx context.Context, set settings.Settings, opened []string,
	log *slog.Logger) (*authn.Authenticator, error) {
	cfg := set.Auth.Config
	for _, p := range set.Auth.Providers {
		p.Opened, p.Proxy, p.Now, p.Log = append(set.ProxyHosts, opened...), http.ProxyFromEnvironment, time.Now, log
		provider, err := authn.NewProvider(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("JWT_ISSUER, JWT_JWKS_URL: %w", err)
		}
		cfg.Providers = append(cfg.Providers, provider)
	}
	return authn.New(cfg)
}
