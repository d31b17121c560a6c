package hooks

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
)

// maxSignatures is how many signatures one delivery may have. A sender that is changing its secret sends two.
const maxSignatures = 16

var errForm = errors.New("not in the form that senders use")

// decimal returns the seconds of a timestamp as senders write it: digits alone, the first of them not 0.
func decimal(text string) (int64, bool) {
	if text == "" || len(text) > 12 || text[0] == '0' {
		return 0, false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// lowerHex returns a SHA-256 from hexadecimal with lower-case letters.
func lowerHex(text string) ([]byte, error) {
	if len(text) != 64 || strings.Trim(text, "0123456789abcdef") != "" || text != strings.ToLower(text) {
		return nil, errForm
	}
	return hex.DecodeString(text)
}

// hexOrBase64 returns the bytes of what senders of no particular provider write: hexadecimal in one case, or base64.
func hexOrBase64(text string) ([]byte, error) {
	text = strings.TrimPrefix(text, "sha256=")
	if len(text) == 64 && (text == strings.ToLower(text) || text == strings.ToUpper(text)) {
		return hex.DecodeString(text)
	}
	return strictBase64(text)
}

// stripeSignature returns the parts of t=…,v1=…: one timestamp and at least one signature, without white space. It
// ignores signatures of unknown versions.
func stripeSignature(text string) (at string, signatures []string, ok bool) {
	if strings.Count(text, ",") > maxSignatures {
		return "", nil, false
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(part, "=")
		if !found || !word(name) || !word(value) {
			return "", nil, false
		}
		switch name {
		case "t":
			if at != "" {
				return "", nil, false
			}
			at = value
		case "v1":
			if _, err := lowerHex(value); err != nil {
				return "", nil, false
			}
			signatures = append(signatures, value)
		}
	}
	return at, signatures, at != "" && len(signatures) > 0
}

// standardSignatures reports whether a text consists of versions and signatures, as in "v1,… v1a,…".
func standardSignatures(text string) bool {
	if strings.Count(text, " ") >= maxSignatures {
		return false
	}
	for part := range strings.SplitSeq(text, " ") {
		version, signature, found := strings.Cut(part, ",")
		if !found || !word(version) || !visible(signature, ",") {
			return false
		}
	}
	return true
}

// messageID reports whether a text can be the ID of a message. With a full stop in it, the signed text could be split
// elsewhere.
func messageID(id string) bool {
	return len(id) <= 256 && visible(id, ".")
}

// visible reports whether a text is visible ASCII without the given characters.
func visible(s, without string) bool {
	out := func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(without, c) }
	return s != "" && !strings.ContainsFunc(s, out)
}

// word reports whether a text consists of letters, digits and _.
func word(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_')
	})
}
