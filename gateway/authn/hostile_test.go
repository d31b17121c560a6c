package authn_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"

	"github.com/airlock-run/airlock/gateway/authn"
)

// Whatever an identity provider publishes, the gateway keeps running and the keys that it has, the log says why in a
// line, and no key that is not valid verifies a token.
func TestKeysOfNoUse(t *testing.T) {
	t.Parallel()
	bytes := func(n int) string { // an odd number of n bytes
		b := make([]byte, n)
		_, _ = rand.Read(b) // never fails
		b[0], b[n-1] = b[0]|0x80, b[n-1]|1
		return base64.RawURLEncoding.EncodeToString(b)
	}
	ec := func(x, y string) string {
		return fmt.Sprintf(`{"kty":"EC","kid":"2","crv":"P-256","x":"%s","y":"%s"}`, x, y)
	}
	public := func(n, e string) string { return fmt.Sprintf(`{"kty":"RSA","kid":"2","n":"%s","e":"%s"}`, n, e) }
	private := func(size int) string {
		number := func() *big.Int {
			b, _ := base64.RawURLEncoding.DecodeString(bytes(size / 2))
			return new(big.Int).SetBytes(b)
		}
		p, q := number(), number()
		text := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }
		return fmt.Sprintf(`{"kty":"RSA","kid":"2","n":"%s","e":"AQAB","d":"%s","p":"%s","q":"%s","dp":"%s","dq":"%s",`+
			`"qi":"%s"}`, text(new(big.Int).Mul(p, q)), bytes(size), text(p), text(q), bytes(size/2), bytes(size/2),
			bytes(size/2))
	}
	const tooLong = "a member has"
	long := strings.Repeat("a", 900_000)
	for name, c := range map[string]struct{ key, says string }{
		"coordinates that are longer than the curve": {ec(bytes(33), bytes(32)), "x has 33 bytes"},
		"huge coordinates":                           {ec(bytes(300_000), bytes(300_000)), "bytes; at most 32"},
		"point that is not on the curve":             {ec(bytes(32), bytes(32)), "not on its curve"},
		"point at infinity":                          {ec("AA", "AA"), "not on its curve"},
		"modulus of 65,536 bits":                     {public(bytes(8192), "AQAB"), "n has 8192 bytes"},
		"modulus of 700,000 bytes":                   {public(bytes(700_000), "AQAB"), "n has 700000 bytes"},
		"exponent of 700,000 bytes":                  {public(bytes(256), bytes(700_000)), "e has 700000 bytes"},
		"exponent that is negative in 64 bits":       {public(bytes(256), bytes(8)), "to validate"},
		"private key of 1,000,000 bits":              {private(125_000), "n has 125000 bytes"},
		"long kind":                                  {`{"kty":"` + strings.Repeat(`\u001b[2J`, 50_000) + `"}`, tooLong},
		"long ID":                                    {`{"kty":"RSA","kid":"` + long + `"}`, tooLong},
		"long use":                                   {`{"kty":"RSA","use":"` + long + `"}`, tooLong},
		"long operation":                             {`{"kty":"RSA","key_ops":["` + long + `"]}`, tooLong},
		"300,000 keys":                               {strings.Repeat("{},", 300_000) + "{}", "300002 keys"},
		"numbers as members":                         {`{"kty":1e999999999}`, "cannot unmarshal"},
		"deep":                                       {`{"x5c":` + strings.Repeat("[", 200_000), "max depth"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newIDP(t)
			good := newSigner(t, "1", jwkset.JWKMetadataOptions{})
			p.set(false, good.public)
			var said strings.Builder
			later := time.Duration(0)
			keys := must[*authn.Provider](t)(authn.NewProvider(t.Context(), authn.ProviderConfig{
				Issuer: p.URL, Now: func() time.Time { return now.Add(later) }, Log: slog.New(slog.NewTextHandler(&said, nil)),
			}))
			a := must[*authn.Authenticator](t)(authn.New(authn.Config{Providers: []*authn.Provider{keys}, Now: clock}))
			p.set(false, good.public, []byte(c.key))
			later = time.Minute
			for _, s := range []signer{
				newSigner(t, "2", jwkset.JWKMetadataOptions{}),
				{"2", jwt.SigningMethodRS256, must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 2048)), nil},
			} {
				if got := accepted(t, a, s.token(t, p.URL)); got == "acme" {
					t.Error("its token is valid")
				}
			}
			if got := accepted(t, a, good.token(t, p.URL)); got != "acme" {
				t.Error("of the good key:", got)
			}
			if text := said.String(); !strings.Contains(text, c.says) || len(text) > 2000 {
				t.Errorf("%d bytes are logged: %.1000s", len(text), text)
			}
		})
	}
}

// What a private key says beyond its public part is not looked at: no check of its numbers delays the keys.
func TestPrivateKeysArePublicOnes(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	key := must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 2048))
	text := base64.RawURLEncoding.EncodeToString
	p.set(false, fmt.Appendf(nil, `{"kty":"RSA","kid":"1","n":"%s","e":"AQAB","d":"Aw","p":"Aw","q":"Aw","dp":"Aw",`+
		`"dq":"Aw","qi":"Aw","x5c":["MA"],"x5u":"http://169.254.169.254/"}`, text(key.N.Bytes())))
	a := must[*authn.Authenticator](t)(authn.New(authn.Config{
		Providers: []*authn.Provider{provider(t, authn.ProviderConfig{Issuer: p.URL})}, Now: clock,
	}))
	s := signer{"1", jwt.SigningMethodRS256, key, nil}
	if got := accepted(t, a, s.token(t, p.URL)); got != "acme" {
		t.Error(got)
	}
}
