package authn

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/golang-jwt/jwt/v5"
)

// MinSecretBytes is the shortest HS256 secret that is accepted: the size of the hash (RFC 7518 §3.2).
const MinSecretBytes = 32

// MinAPIKeyBytes is the shortest API key that is accepted: 128 bits of a random key.
const MinAPIKeyBytes = 16

// CheckAPIKey reports why a text may not be the deployment's API key. The error never contains the key.
func CheckAPIKey(key string) error {
	switch {
	case strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return errors.New("must not contain white space or control characters (try: openssl rand -hex 32)")
	case len(key) < MinAPIKeyBytes:
		return fmt.Errorf(
			"has %d bytes; at least %d are needed, and they should be random (try: openssl rand -hex 32)", len(key),
			MinAPIKeyBytes,
		)
	}
	return nil
}

// A Key verifies tokens under exactly one algorithm. The zero value verifies nothing.
type Key struct {
	algorithm string
	material  any
}

// Algorithm returns the one JWS algorithm of the key.
func (k Key) Algorithm() string { return k.algorithm }

// SecretKey returns an HS256 key of a shared secret.
func SecretKey(secret []byte) (Key, error) {
	if len(secret) < MinSecretBytes {
		return Key{}, fmt.Errorf(
			"has %d bytes; HS256 needs at least %d (try: openssl rand -base64 48)", len(secret), MinSecretBytes,
		)
	}
	return Key{jwt.SigningMethodHS256.Alg(), append([]byte(nil), secret...)}, nil
}

// PublicKey reads one PEM block, a public key or a certificate, and fixes the algorithm of its kind: RS256 for RSA of
// 2048 bits or more, ES256 for P-256, EdDSA for Ed25519.
func PublicKey(text []byte) (Key, error) {
	block, rest := pem.Decode(text)
	if block == nil {
		return Key{}, errors.New("is not PEM; it should start with -----BEGIN PUBLIC KEY-----")
	}
	if again, _ := pem.Decode(rest); again != nil {
		return Key{}, errors.New("holds more than one PEM block; give exactly one public key")
	}
	pub, err := parsePublic(block)
	if err != nil {
		return Key{}, err
	}
	switch k := pub.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() < 2048 {
			return Key{}, fmt.Errorf("is an RSA key of %d bits; RS256 needs at least 2048", k.N.BitLen())
		}
		return Key{jwt.SigningMethodRS256.Alg(), k}, nil
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return Key{}, fmt.Errorf("is an elliptic curve key on %s; ES256 needs P-256", k.Curve.Params().Name)
		}
		return Key{jwt.SigningMethodES256.Alg(), k}, nil
	case ed25519.PublicKey:
		return Key{jwt.SigningMethodEdDSA.Alg(), k}, nil
	}
	return Key{}, errors.New("is of a kind that is not supported; use RSA, P-256 or Ed25519")
}

func parsePublic(block *pem.Block) (any, error) {
	switch block.Type {
	case "PUBLIC KEY":
		if k, err := x509.ParsePKIXPublicKey(block.Bytes); err == nil {
			return k, nil
		}
	case "RSA PUBLIC KEY":
		if k, err := x509.ParsePKCS1PublicKey(block.Bytes); err == nil {
			return k, nil
		}
	case "CERTIFICATE":
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			return c.PublicKey, nil
		}
	case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY":
		return nil, errors.New("is a private key; give the public half (openssl pkey -pubout)")
	default:
		return nil, fmt.Errorf("is a PEM block of type %q; use PUBLIC KEY", block.Type)
	}
	return nil, fmt.Errorf("has a %s block that does not parse", block.Type)
}
