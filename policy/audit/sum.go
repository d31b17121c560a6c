package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

const (
	sumMark = `,"sum":"`
	sumEnd  = `"}`
)

// AppendSum closes the JSON object that begins at start in b and lacks its final }. It adds a member "sum": the SHA-256
// of the object so far, or its HMAC if there is a key. Stores protect what they keep beside the records this way.
func AppendSum(b []byte, start int, key []byte) []byte {
	sum := sumOf(b[start:], key)
	b = append(b, sumMark...)
	b = hex.AppendEncode(b, sum)
	return append(b, sumEnd...)
}

// CheckSum verifies an object that AppendSum closed.
func CheckSum(doc, key []byte) error {
	at := len(doc) - len(sumMark) - hexSize - len(sumEnd)
	if at < 0 || !bytes.HasPrefix(doc[at:], []byte(sumMark)) || !bytes.HasSuffix(doc, []byte(sumEnd)) {
		return errors.New("no checksum")
	}
	claim, err := hex.DecodeString(string(doc[at+len(sumMark) : len(doc)-len(sumEnd)]))
	if err != nil {
		return fmt.Errorf("checksum: %w", err)
	}
	if !hmac.Equal(claim, sumOf(doc[:at], key)) {
		return errors.New("checksum does not match")
	}
	return nil
}

func sumOf(content, key []byte) []byte {
	if len(key) == 0 {
		sum := sha256.Sum256(content)
		return sum[:]
	}
	h := hmac.New(sha256.New, key)
	h.Write(content)
	return h.Sum(nil)
}
