package hooks

import (
	"encoding/base64"
	"errors"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/airlock-run/airlock/functions/execution"
)

// MinSecretBytes is the least length of a key, after decoding.
const MinSecretBytes = 16

const secretPrefix = "whsec_"

// errShort is the error of a key that could be guessed.
var errShort = errors.New("is too short: 16 bytes or more are required, after decoding and without whsec_; " +
	"openssl rand -hex 32 makes one")

// keyOf returns the key of a hook. A secret that is empty, blank or short counts as none, even if it is stored. Only
// Standard Webhooks decode what follows whsec_, but for every scheme the secret is as strong as its bytes.
func keyOf(h execution.FunctionHook) ([]byte, error) {
	text, prefixed := strings.CutPrefix(h.Secret, secretPrefix)
	decoded, err := strictBase64(text)
	key, strength := []byte(h.Secret), len(strings.TrimSpace(text))
	switch {
	case err == nil && h.Scheme == Standard:
		key, strength = decoded, len(decoded)
	case err == nil && prefixed:
		strength = len(decoded)
	case prefixed && h.Scheme == Standard:
		return nil, errors.New("must be whsec_ followed by base64")
	}
	if strength < MinSecretBytes {
		return nil, errShort
	}
	return key, nil
}

// standardKey returns the key in the form that the library of Standard Webhooks accepts.
func standardKey(h execution.FunctionHook) (*standardwebhooks.Webhook, error) {
	key, err := keyOf(h)
	if err != nil {
		return nil, err
	}
	return standardwebhooks.NewWebhookRaw(key)
}

// strictBase64 returns the bytes of standard base64 in its canonical form: padded, without white space, and with
// unused bits at zero.
func strictBase64(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, base64.CorruptInputError(0)
	}
	return base64.StdEncoding.Strict().DecodeString(text)
}
