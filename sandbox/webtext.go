package sandbox

import (
	"encoding/base64"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// utf8Encode(text) gives the bytes of a string.
func utf8Encode(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	s, ok := in.Str(a[0], maxBytes)
	if !ok {
		return 0, errForged
	}
	return in.Bytes([]byte(s))
}

// base64Encode(text) is btoa: each character is a byte.
func base64Encode(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	s, ok := in.Str(a[0], maxBytes)
	if !ok {
		return 0, errForged
	}
	b := make([]byte, 0, len(s))
	for _, c := range s {
		if c > 0xff {
			return 0, refused("InvalidCharacterError", "The string to be encoded contains characters outside of the Latin1 range.")
		}
		b = append(b, byte(c))
	}
	return in.String(base64.StdEncoding.EncodeToString(b))
}

// base64Decode(text) is atob, the forgiving-base64 decode of the Infra standard.
func base64Decode(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	s, ok := in.Str(a[0], maxBytes)
	if !ok {
		return 0, errForged
	}
	b, ok := forgivingBase64(s)
	if !ok {
		return 0, refused("InvalidCharacterError", "The string to be decoded is not correctly encoded.")
	}
	out := make([]rune, len(b))
	for i, c := range b {
		out[i] = rune(c)
	}
	return text(in, string(out))
}

func forgivingBase64(s string) ([]byte, bool) {
	s = strings.Map(func(c rune) rune {
		switch c {
		case '\t', '\n', '\f', '\r', ' ':
			return -1
		}
		return c
	}, s)
	if len(s)%4 == 0 {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	b, err := base64.RawStdEncoding.DecodeString(s) // bits left over at the end are dropped
	return b, err == nil
}
