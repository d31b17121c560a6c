package node

import (
	"crypto/md5"  // Node has it, and old protocols need it
	"crypto/sha1" // as above
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"fmt"
	"hash"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/crypto"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// hashOf returns the hash that Node has under a name.
func hashOf(name string) func() hash.Hash {
	switch name {
	case "md5":
		return md5.New
	case "sha1":
		return sha1.New
	case "sha224":
		return sha256.New224
	case "sha256":
		return sha256.New
	case "sha384":
		return sha512.New384
	case "sha512":
		return sha512.New
	case "sha512-224":
		return sha512.New512_224
	case "sha512-256":
		return sha512.New512_256
	case "sha3-224":
		return func() hash.Hash { return sha3.New224() }
	case "sha3-256":
		return func() hash.Hash { return sha3.New256() }
	case "sha3-384":
		return func() hash.Hash { return sha3.New384() }
	case "ripemd160":
		return newRIPEMD160
	case "sha3-512":
		return func() hash.Hash { return sha3.New512() }
	case "blake2b512":
		return newBLAKE2b
	case "blake2s256":
		return newBLAKE2s
	case "md5-sha1":
		return newMD5SHA1
	}
	return shakeOf(name)
}

// hashArgs reads the name of a hash and n buffers.
func hashArgs(c *hostops.Call, a []quickjs.Value, n int) (func() hash.Hash, [][]byte, error) {
	name, _ := c.Word(a[0], 32)
	h := hashOf(name)
	if h == nil {
		return nil, nil, hostops.ErrForged
	}
	b, err := c.Views(a[1 : 1+n]...)
	return h, b, err
}

// hashOp answers hash(name, data).
func hashOp(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(c, a, 1)
	if err != nil {
		return 0, err
	}
	return crypto.Sum(c, h(), b[0])
}

// hmacOp answers hmac(name, key, data).
func hmacOp(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(c, a, 2)
	if err != nil {
		return 0, err
	}
	mac, err := crypto.MAC(c, h, b[0])
	if err != nil {
		return 0, err
	}
	return crypto.Sum(c, mac, b[1])
}

// pbkdf2Op answers pbkdf2(hash, password, salt, iterations, length).
func pbkdf2Op(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(c, a, 2)
	if err != nil {
		return 0, err
	}
	iterations, ok := a[3].Int()
	length, ok2 := a[4].Int()
	if !ok || !ok2 || iterations < 1 || length < 0 {
		return 0, hostops.ErrForged
	}
	if length > crypto.MaxDerived {
		return 0, hostops.Throw("RangeError", fmt.Sprintf("at most %d bytes are derived", crypto.MaxDerived))
	}
	out, err := crypto.PBKDF2(c, h, b[0], b[1], int(iterations), int(length))
	if err != nil {
		return 0, err
	}
	return c.NewBytes(out)
}

// hkdfOp answers hkdf(hash, key, salt, info, length).
func hkdfOp(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(c, a, 3)
	if err != nil {
		return 0, err
	}
	length, ok := a[4].Int()
	if !ok || length < 0 {
		return 0, hostops.ErrForged
	}
	if int(length) > 255*h().Size() {
		return 0, hostops.Throw("RangeError", "Invalid key length")
	}
	out, err := crypto.HKDF(c, h, b[0], b[1], b[2], int(length))
	if err != nil {
		return 0, err
	}
	return c.NewBytes(out)
}
