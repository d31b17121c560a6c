package crypto

import (
	"crypto/hmac"
	"crypto/subtle"
	"encoding/binary"
	"hash"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

// Key derivation, after RFC 5869 and RFC 8018. The standard library's functions do not stop before they are done: these
// announce every part of their work.

// MaxDerived bounds what is derived at a time, in bytes.
const MaxDerived = 1 << 20

// Absorb writes data to h in announced pieces.
func Absorb(c *hostops.Call, h hash.Hash, data []byte) error {
	return c.Pieces(data, 1, func(piece []byte) error {
		h.Write(piece) // a hash takes everything
		return nil
	})
}

// MAC returns HMAC with a key of any length. The standard library hashes a long key without a pause.
func MAC(c *hostops.Call, newHash func() hash.Hash, key []byte) (hash.Hash, error) {
	if h := newHash(); len(key) > h.BlockSize() {
		if err := Absorb(c, h, key); err != nil {
			return nil, err
		}
		key = h.Sum(nil)
	}
	return hmac.New(newHash, key), nil
}

// HKDF derives n bytes, at most 255 hashes (RFC 5869).
func HKDF(c *hostops.Call, newHash func() hash.Hash, secret, salt, info []byte, n int) ([]byte, error) {
	extract, err := MAC(c, newHash, salt)
	if err != nil {
		return nil, err
	}
	if err := Absorb(c, extract, secret); err != nil {
		return nil, err
	}
	expand := hmac.New(newHash, extract.Sum(nil))
	var out, last []byte
	for counter := byte(1); len(out) < n; counter++ {
		if err := c.Work(blockWork); err != nil {
			return nil, err
		}
		expand.Reset()
		expand.Write(last)
		if err := Absorb(c, expand, info); err != nil {
			return nil, err
		}
		expand.Write([]byte{counter})
		last = expand.Sum(last[:0])
		out = append(out, last...)
	}
	return out[:n], nil
}

// blockWork is the work of one HMAC of a short text: up to four blocks of a hash.
const blockWork = 512

// PBKDF2 derives n bytes, at most MaxDerived (RFC 8018).
func PBKDF2(c *hostops.Call, newHash func() hash.Hash, password, salt []byte, iterations, n int) ([]byte, error) {
	h, err := MAC(c, newHash, password)
	if err != nil {
		return nil, err
	}
	if err := c.Hold(n + h.Size()); err != nil {
		return nil, err
	}
	out := make([]byte, 0, n+h.Size())
	var sum, total []byte
	for block := uint32(1); len(out) < n; block++ {
		h.Reset()
		if err := Absorb(c, h, salt); err != nil {
			return nil, err
		}
		h.Write(binary.BigEndian.AppendUint32(nil, block))
		sum = h.Sum(sum[:0])
		total = append(total[:0], sum...)
		for done := 0; done < iterations; {
			some := min(iterations-done, hostops.Quantum/blockWork)
			if err := c.Work(some * blockWork); err != nil {
				return nil, err
			}
			for i := range some {
				if done+i == 0 {
					continue // it is sum already
				}
				h.Reset()
				h.Write(sum)
				sum = h.Sum(sum[:0])
				subtle.XORBytes(total, total, sum)
			}
			done += some
		}
		out = append(out, total...)
	}
	return out[:n], nil
}
