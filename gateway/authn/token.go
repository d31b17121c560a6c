package authn

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"

	"github.com/airlock-run/airlock/functions/execution"
)

// maxTokenBytes bounds the work that an unauthenticated caller can cause.
const maxTokenBytes = 8 << 10

// maxTime is the year 9999. The library takes much later times for earlier ones.
const maxTime = 253_402_300_799

// maxScopes is how many scopes an execution.Invocation carries.
const maxScopes = 256

// verifier checks tokens of one algorithm under one key.
type verifier struct {
	parser *jwt.Parser
	key    jwt.Keyfunc
}

func newVerifier(k Key, cfg Config) *verifier {
	material := k.material
	return &verifier{
		jwt.NewParser(parsing(cfg, []string{k.algorithm})...), func(*jwt.Token) (any, error) { return material, nil },
	}
}

// parsing returns the checks that apply to every token.
func parsing(cfg Config, algorithms []string) []jwt.ParserOption {
	options := []jwt.ParserOption{
		jwt.WithValidMethods(algorithms),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(cfg.Now),
	}
	if cfg.Issuer != "" {
		options = append(options, jwt.WithIssuer(cfg.Issuer))
	}
	if cfg.Audience != "" {
		options = append(options, jwt.WithAudience(cfg.Audience))
	}
	return options
}

// token verifies a compact JWS and returns the identity that it speaks for.
func (a *Authenticator) token(compact string) (Identity, error) {
	if len(compact) > maxTokenBytes {
		return Identity{}, &Refusal{Reason: "the token is too long"}
	}
	algorithm, issuer, err := precheck(compact)
	if err != nil {
		return Identity{}, err
	}
	claims := jwt.MapClaims{}
	if p := a.provider(algorithm, issuer); p != nil {
		err = p.verify(compact, claims)
	} else {
		v := a.tokens[algorithm]
		switch {
		case v == nil && len(a.providers) > 0 && slices.Contains(providerAlgorithms(), algorithm):
			return Identity{}, &Refusal{Reason: "the token's iss is not one accepted here"}
		case v == nil:
			return Identity{}, &Refusal{Reason: "the token is signed with an algorithm that is not accepted here"}
		}
		_, err = v.parser.ParseWithClaims(compact, claims, v.key)
	}
	if err != nil {
		return Identity{}, &Refusal{
			Reason: reason(err), Unavailable: errors.Is(err, errNoKeys), Genuine: errors.Is(err, jwt.ErrTokenInvalidClaims),
		}
	}
	id, err := identify(claims, a.tenantClaim)
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		refusal.Genuine = true
	}
	return id, err
}

// provider returns the provider that a token names, or nil if none does or no provider signs tokens that way.
func (a *Authenticator) provider(algorithm, issuer string) *provided {
	if !slices.Contains(providerAlgorithms(), algorithm) {
		return nil
	}
	for _, p := range a.providers {
		if p.cfg.Issuer == "" || p.cfg.Issuer == issuer {
			return p
		}
	}
	return nil
}

// precheck refuses what the library would accept, and returns the algorithm and the issuer that the token claims.
// Nothing is trusted yet: they only select the key that belongs to them.
func precheck(compact string) (algorithm, issuer string, err error) {
	malformed := &Refusal{Reason: "the token is malformed"}
	parts := strings.Split(compact, ".")
	if len(parts) != 3 {
		return "", "", malformed
	}
	var header, payload map[string]jsontext.Value
	for i, into := range []*map[string]jsontext.Value{&header, &payload} {
		text, err := base64.RawURLEncoding.Strict().DecodeString(parts[i])
		if err != nil {
			return "", "", malformed
		}
		if err := json.Unmarshal(text, into); err != nil || *into == nil {
			if errors.Is(err, jsontext.ErrDuplicateName) {
				return "", "", &Refusal{Reason: "the token has a duplicate member"}
			}
			return "", "", malformed
		}
	}
	for _, name := range []string{"crit", "b64", "zip"} {
		if _, ok := header[name]; ok {
			return "", "", &Refusal{Reason: "the token's header has " + name + ", which is not accepted"}
		}
	}
	var typ string
	if json.Unmarshal(header["alg"], &algorithm) != nil {
		return "", "", malformed
	}
	if v, ok := header["typ"]; ok {
		if json.Unmarshal(v, &typ) != nil {
			return "", "", malformed
		}
		switch strings.TrimPrefix(strings.ToLower(typ), "application/") {
		case "jwt", "at+jwt":
		default:
			return "", "", &Refusal{Reason: "the token's typ is not JWT or at+jwt"}
		}
	}
	for _, name := range []string{"exp", "nbf", "iat"} {
		var at float64
		if v, ok := payload[name]; ok && (json.Unmarshal(v, &at) != nil || at < 0 || at > maxTime) {
			return "", "", &Refusal{Reason: "the token's " + name + " is not valid"}
		}
	}
	if v, ok := payload["iss"]; ok && json.Unmarshal(v, &issuer) != nil {
		return "", "", malformed
	}
	return algorithm, issuer, nil
}

// reason words a verification error without saying more than the caller can know anyway.
func reason(err error) string {
	switch {
	case errors.Is(err, errNoKeys):
		return "the token cannot be checked now: its issuer's keys cannot be fetched; try again"
	case errors.Is(err, jwt.ErrTokenUnverifiable):
		return "the token is signed with a key that its issuer does not publish"
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return "the token's signature is not valid"
	case errors.Is(err, jwt.ErrTokenExpired):
		return "the token has expired"
	case errors.Is(err, jwt.ErrTokenNotValidYet), errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return "the token is not valid yet"
	case errors.Is(err, jwt.ErrTokenInvalidIssuer):
		return "the token's iss is not the one accepted here"
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		return "the token's aud does not name this service"
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return "the token lacks a required claim (exp, and iss or aud where configured)"
	}
	return "the token is not valid"
}

// identify reads the claims of a verified token.
func identify(claims jwt.MapClaims, tenantClaim string) (Identity, error) {
	id := Identity{Tenant: DefaultTenant}
	subject, ok := optional(claims, "sub")
	if !ok || len(subject) > 256 || strings.ContainsFunc(subject, unicode.IsControl) {
		return Identity{}, &Refusal{
			Reason: "the token's sub must be a string of at most 256 bytes without control characters",
		}
	}
	issuer, ok := optional(claims, "iss")
	if !ok || len(issuer) > 256 || strings.ContainsFunc(issuer, unicode.IsControl) {
		return Identity{}, &Refusal{
			Reason: "the token's iss must be a string of at most 256 bytes without control characters",
		}
	}
	if id.Subject = execution.TokenSubject(issuer, subject); len(id.Subject) > execution.MaxSubjectBytes {
		return Identity{}, &Refusal{Reason: "the token's iss and sub are too long together"}
	}
	tenant, ok := optional(claims, tenantClaim)
	if !ok || len(tenant) > 128 || strings.ContainsFunc(tenant, notTenant) {
		return Identity{}, &Refusal{
			Reason: "the token's " + tenantClaim + " must be a string of at most 128 letters, digits or . _ : @ / = + -",
		}
	}
	switch _, named := claims[tenantClaim]; {
	case !named:
	case tenant == "":
		return Identity{}, &Refusal{Reason: "the token's " + tenantClaim + " is empty; leave it out, or name a tenant"}
	case tenant == DefaultTenant:
		return Identity{}, &Refusal{
			Reason: "the token's " + tenantClaim + " must not be " + DefaultTenant + ", the tenant of callers that name none",
		}
	default:
		id.Tenant = tenant
	}
	scope, ok := optional(claims, "scope")
	if !ok {
		return Identity{}, &Refusal{Reason: "the token's scope must be one string of scopes separated by spaces"}
	}
	id.Scopes = strings.Fields(scope)
	switch scp := claims["scp"].(type) {
	case nil:
	case string:
		id.Scopes = append(id.Scopes, strings.Fields(scp)...)
	case []any:
		for _, s := range scp {
			text, ok := s.(string)
			if !ok {
				return Identity{}, &Refusal{Reason: "the token's scp must be an array of strings"}
			}
			id.Scopes = append(id.Scopes, text)
		}
	default:
		return Identity{}, &Refusal{Reason: "the token's scp must be an array of strings"}
	}
	if len(id.Scopes) > maxScopes ||
		slices.ContainsFunc(id.Scopes, func(s string) bool { return s == "" || len(s) > 256 }) {
		return Identity{}, &Refusal{
			Reason: "the token has more than 256 scopes, or one that is empty or longer than 256 bytes",
		}
	}
	return id, nil
}

func optional(claims jwt.MapClaims, name string) (string, bool) {
	v, there := claims[name]
	if !there {
		return "", true
	}
	s, ok := v.(string)
	return s, ok
}

// notTenant reports whether a character may not be in a tenant. Tenants have the characters of an AWS Lambda tenant
// ID, without its spaces.
func notTenant(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._:@/=+-", r))
}
