package authn

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/MicahParks/jwkset"
)

// maxModulus bounds an RSA key in bits, because the time to check a signature grows with their square.
const maxModulus = 8192

// maxMember bounds the names in a key: its ID, its use and what else it says of itself.
const maxMember = 1 << 10

// publicKey returns the public key that a member of a JWK set publishes. It fails with jwkset.ErrUnsupportedKey for a
// kind of key that signs no tokens here. Private members and certificates are not looked at: to check private numbers
// takes long, and they say nothing about a token. Numbers are bounded first, because the library panics when it
// compares a coordinate that is longer than its curve.
func publicKey(published jwkset.JWKMarshal) (jwkset.JWK, error) {
	m := jwkset.JWKMarshal{
		KTY: published.KTY, USE: published.USE, KEYOPS: published.KEYOPS, ALG: published.ALG, KID: published.KID,
		CRV: published.CRV, X: published.X, Y: published.Y, N: published.N, E: published.E,
	}
	if m.KTY == jwkset.KtyOct {
		return jwkset.JWK{}, fmt.Errorf("%w: a shared secret", jwkset.ErrUnsupportedKey)
	}
	for _, text := range append([]string{string(m.KTY), string(m.USE), string(m.ALG), m.KID, string(m.CRV)}, ops(m)...) {
		if len(text) > maxMember {
			return jwkset.JWK{}, fmt.Errorf("a member has %d bytes; at most %d are accepted", len(text), maxMember)
		}
	}
	for name, number := range map[string]string{"x": m.X, "y": m.Y, "n": m.N, "e": m.E} {
		most := map[string]int{"x": coordinate(m.CRV), "y": coordinate(m.CRV), "n": maxModulus / 8, "e": 8}[name]
		if n := base64.RawURLEncoding.DecodedLen(len(strings.TrimRight(number, "="))); n > most {
			return jwkset.JWK{}, fmt.Errorf("%s has %d bytes; at most %d are accepted", name, n, most)
		}
	}
	jwk, err := jwkset.NewJWKFromMarshal(m, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
	if err != nil {
		return jwkset.JWK{}, err
	}
	switch key := jwk.Key().(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() > maxModulus {
			return jwkset.JWK{}, fmt.Errorf("it has %d bits; at most %d are accepted", key.N.BitLen(), maxModulus)
		}
	case *ecdsa.PublicKey:
		if _, err := key.ECDH(); err != nil {
			return jwkset.JWK{}, errors.New("its point is not on its curve")
		}
	}
	return jwk, nil
}

// ops returns the operations of a key.
func ops(m jwkset.JWKMarshal) (names []string) {
	for _, op := range m.KEYOPS {
		names = append(names, string(op))
	}
	return names
}

// coordinate returns the number of bytes of a coordinate. Unknown curves are refused later.
func coordinate(curve jwkset.CRV) int {
	switch curve {
	case jwkset.CrvP256, jwkset.CrvEd25519:
		return 32
	case jwkset.CrvP384:
		return 48
	}
	return 66
}
