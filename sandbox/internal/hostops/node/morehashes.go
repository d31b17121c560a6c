package node

import (
	"crypto/md5"  // Node has it, and old protocols need it
	"crypto/sha1" // as above
	"crypto/sha3"
	"hash"
	"strconv"
	"strings"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"
)

// maxSHAKE bounds the output of SHAKE, in bytes.
const maxSHAKE = 64 << 10

// newBLAKE2b returns BLAKE2b with 64 bytes of output, and newBLAKE2s BLAKE2s with 32.
func newBLAKE2b() hash.Hash {
	h, _ := blake2b.New512(nil) // fails for long keys alone
	return h
}

func newBLAKE2s() hash.Hash {
	h, _ := blake2s.New256(nil) // as above
	return h
}

// shakeOf returns the hash that "shake128/N" or "shake256/N" names: SHAKE with N bytes of output. It returns nil for
// other names.
func shakeOf(name string) func() hash.Hash {
	kind, length, _ := strings.Cut(name, "/")
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > maxSHAKE {
		return nil
	}
	switch kind {
	case "shake128":
		return func() hash.Hash { return &shake{sha3.NewSHAKE128(), n} }
	case "shake256":
		return func() hash.Hash { return &shake{sha3.NewSHAKE256(), n} }
	}
	return nil
}

// shake is SHAKE with a fixed length of output.
type shake struct {
	*sha3.SHAKE
	n int
}

func (h *shake) Size() int { return h.n }

// Sum implements hash.Hash. Nothing is written after it.
func (h *shake) Sum(out []byte) []byte {
	sum := make([]byte, h.n)
	_, _ = h.Read(sum) // it never fails
	return append(out, sum...)
}

// md5sha1 is the hash of old versions of TLS: MD5 followed by SHA-1.
type md5sha1 struct{ md5, sha1 hash.Hash }

func newMD5SHA1() hash.Hash { return &md5sha1{md5.New(), sha1.New()} }

func (h *md5sha1) Write(b []byte) (int, error) {
	_, _ = h.md5.Write(b) // hashes never fail
	return h.sha1.Write(b)
}

func (h *md5sha1) Sum(out []byte) []byte { return h.sha1.Sum(h.md5.Sum(out)) }
func (h *md5sha1) Size() int             { return md5.Size + sha1.Size }
func (h *md5sha1) BlockSize() int        { return md5.BlockSize }

// Reset implements hash.Hash.
func (h *md5sha1) Reset() {
	h.md5.Reset()
	h.sha1.Reset()
}
