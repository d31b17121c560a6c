package authn

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

// providerAlgorithms returns the algorithms that a provider may use. A key that names its algorithm verifies that one
// alone.
func providerAlgorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

var errNoKeys = errors.New("the identity provider's keys are not known yet")

// provided checks the tokens of one provider.
type provided struct {
	*Provider
	parser *jwt.Parser
}

func newProvided(p *Provider, cfg Config) *provided {
	cfg.Issuer = p.cfg.Issuer
	return &provided{p, jwt.NewParser(parsing(cfg, providerAlgorithms())...)}
}

// verify checks the token and reads its claims.
func (p *provided) verify(compact string, claims jwt.MapClaims) error {
	_, err := p.parser.ParseWithClaims(compact, claims, p.key)
	return err
}

// key returns the key that a token's header names.
func (p *provided) key(token *jwt.Token) (any, error) {
	key, err := p.find(token)
	if err != nil {
		return nil, err
	}
	switch key := key.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < 2048 {
			return nil, fmt.Errorf("the provider's RSA key has %d bits; at least 2048 are required", key.N.BitLen())
		}
	case *ecdsa.PublicKey, ed25519.PublicKey:
	default:
		return nil, fmt.Errorf("the provider's key has the unsupported type %T", key)
	}
	return key, nil
}
