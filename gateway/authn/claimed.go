package authn

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"
)

// Credential returns the credential in the two headers that Authenticate checks: a token or an API key, or "".
func Credential(authorization, apiKey string) string {
	if authorization == "" {
		return apiKey
	}
	_, credential, _ := strings.Cut(authorization, " ")
	return strings.TrimSpace(credential)
}

// ClaimedName returns the name that a credential claims before it is checked: that of the API key, or the key ID,
// issuer and subject of a token.
func ClaimedName(credential string) string {
	const key = "the API key"
	parts := strings.Split(credential, ".")
	if len(parts) != 3 || len(credential) > maxTokenBytes {
		return key
	}
	var header struct {
		KeyID string `json:"kid"`
	}
	var claims struct {
		Issuer  string `json:"iss"`
		Subject string `json:"sub"`
	}
	for i, into := range []any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil || json.Unmarshal(text, into) != nil {
			return key
		}
	}
	return "token\x00" + header.KeyID + "\x00" + claims.Issuer + "\x00" + claims.Subject
}
