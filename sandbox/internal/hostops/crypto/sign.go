package crypto

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// scheme is a way to sign, as the guest names it: <name>:<kind>:<hash>:<salt length>.
type scheme struct {
	name, kind string
	hash       crypto.Hash
	salt       int
}

func schemeArg(c *hostops.Call, v quickjs.Value) (scheme, error) {
	text, _ := c.Word(v, 64)
	parts := append(strings.Split(text, ":"), "", "", "")
	s := scheme{name: parts[0], kind: parts[1], hash: hashes[parts[2]]}
	if n, err := strconv.Atoi(parts[3]); err == nil {
		s.salt = n
	}
	if s.salt < 0 || s.salt > maxRSABits/8 { // no signature has room for it
		return s, errSign
	}
	if s.name != "Ed25519" && s.hash == 0 {
		return s, hostops.ErrForged
	}
	return s, nil
}

var errSign = hostops.Throw("OperationError", "The operation failed for an operation-specific reason")

func (s scheme) digest(c *hostops.Call, data []byte) ([]byte, error) {
	h := s.hash.New()
	if err := Absorb(c, h, data); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// cryptoSign answers crypto.sign(scheme, pkcs8, data).
func cryptoSign(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	s, err := schemeArg(c, a[0])
	if err != nil {
		return 0, err
	}
	b, err := c.Views(a[1], a[2])
	if err != nil {
		return 0, err
	}
	key, err := privateKey(c, s.kind, b[0])
	if err != nil {
		return 0, err
	}
	signature, err := s.sign(c, key, b[1])
	if err != nil {
		return 0, err
	}
	return c.NewBytes(signature)
}

func (s scheme) sign(c *hostops.Call, key any, data []byte) ([]byte, error) {
	if key, ok := key.(ed25519.PrivateKey); ok {
		if err := messageWork(c, data); err != nil {
			return nil, err
		}
		return ed25519.Sign(key, data), nil
	}
	digest, err := s.digest(c, data)
	if err != nil {
		return nil, err
	}
	var out []byte
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		// Without randomness the signature is RFC 6979's: a run stays pure.
		if out, err = key.Sign(nil, digest, s.hash); err == nil {
			return plainSignature(out, (key.Params().BitSize+7)/8)
		}
	case *rsa.PrivateKey:
		switch {
		case s.name != "RSA-PSS":
			out, err = rsa.SignPKCS1v15(nil, key, s.hash, digest)
		case s.salt == 0:
			out, err = signPSSWithoutSalt(c, key, s.hash, digest)
		default:
			out, err = rsa.SignPSS(c.Random(), key, s.hash, digest, &rsa.PSSOptions{SaltLength: s.salt})
		}
	default:
		return nil, hostops.ErrForged
	}
	if err != nil {
		return nil, errSign
	}
	return out, nil
}

// maxMessage bounds what Ed25519 signs: it hashes the whole message twice, and cannot be interrupted.
const maxMessage = 1 << 20

func messageWork(c *hostops.Call, data []byte) error {
	if len(data) > maxMessage {
		return hostops.Throwf("OperationError",
			"Ed25519 takes messages of at most %d bytes here; sign a hash of the data", maxMessage)
	}
	return c.Work(4 * len(data))
}

// cryptoVerify answers crypto.verify(scheme, spki, signature, data).
func cryptoVerify(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	s, err := schemeArg(c, a[0])
	if err != nil {
		return 0, err
	}
	b, err := c.Views(a[1:4]...)
	if err != nil {
		return 0, err
	}
	key, err := publicKey(c, s.kind, b[0])
	if err != nil {
		return 0, err
	}
	if key, ok := key.(ed25519.PublicKey); ok {
		if err := messageWork(c, b[2]); err != nil {
			return 0, err
		}
		valid := !smallOrder(key) && len(b[1]) == ed25519.SignatureSize && !smallOrder(b[1][:32])
		return quickjs.Bool(valid && ed25519.Verify(key, b[2], b[1])), nil
	}
	digest, err := s.digest(c, b[2])
	if err != nil {
		return 0, err
	}
	valid := false
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		size := (key.Params().BitSize + 7) / 8
		if len(b[1]) == 2*size {
			valid = ecdsa.Verify(key, digest, new(big.Int).SetBytes(b[1][:size]), new(big.Int).SetBytes(b[1][size:]))
		}
	case *rsa.PublicKey:
		switch {
		case s.name != "RSA-PSS":
			valid = rsa.VerifyPKCS1v15(key, s.hash, digest, b[1]) == nil
		case s.salt == 0:
			valid = verifyPSSWithoutSalt(key, s.hash, digest, b[1])
		default:
			valid = rsa.VerifyPSS(key, s.hash, digest, b[1], &rsa.PSSOptions{SaltLength: s.salt}) == nil
		}
	}
	return quickjs.Bool(valid), nil
}

// plainSignature converts an ASN.1 signature to r and s, each of size bytes.
func plainSignature(der []byte, size int) ([]byte, error) {
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &pair); err != nil {
		return nil, errSign
	}
	out := make([]byte, 2*size)
	pair.R.FillBytes(out[:size])
	pair.S.FillBytes(out[size:])
	return out, nil
}

// smallOrder reports whether a point of the Edwards form of Curve25519 is one of the eight of small order. With such a
// point any signature verifies, so the standard refuses them. Both signs of x and the encodings beyond the field's size
// count.
func smallOrder(point []byte) bool {
	y := bytes.Clone(point)
	y[31] &= 0x7f
	for _, p := range smallOrders {
		if bytes.Equal(y, p) {
			return true
		}
	}
	return false
}

// smallOrders are the y coordinates: 0, 1, two of order 8, p-1, p, p+1.
var smallOrders = [][]byte{
	make([]byte, 32),
	append([]byte{1}, make([]byte, 31)...),
	{0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac,
		0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
	{0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53,
		0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
	fieldEnd(0xec), fieldEnd(0xed), fieldEnd(0xee),
}

func fieldEnd(low byte) []byte {
	b := bytes.Repeat([]byte{0xff}, 32)
	b[0], b[31] = low, 0x7f
	return b
}

// encodePSS encodes a digest as EMSA-PSS of RFC 8017 with an empty salt. The standard library takes an empty salt for
// another length.
func encodePSS(hash crypto.Hash, digest []byte, bits int) ([]byte, error) {
	size, n := hash.Size(), (bits+7)/8
	if n < size+2 {
		return nil, errors.New("the key is too short")
	}
	h := hash.New()
	h.Write(make([]byte, 8))
	h.Write(digest)
	sum := h.Sum(nil)
	db := make([]byte, n-size-1)
	db[len(db)-1] = 1
	for i, counter := 0, uint32(0); i < len(db); counter++ {
		h.Reset()
		h.Write(sum)
		h.Write(binary.BigEndian.AppendUint32(nil, counter))
		for _, c := range h.Sum(nil) {
			if i < len(db) {
				db[i] ^= c
			}
			i++
		}
	}
	db[0] &= 0xff >> (8*n - bits)
	return append(append(db, sum...), 0xbc), nil
}

// signPSSWithoutSalt computes with big integers. Its time depends on the key, which is the guest's own.
func signPSSWithoutSalt(c *hostops.Call, key *rsa.PrivateKey, hash crypto.Hash, digest []byte) ([]byte, error) {
	em, err := encodePSS(hash, digest, key.N.BitLen()-1)
	if err != nil {
		return nil, err
	}
	// The Chinese remainder theorem: two powers of half the size.
	key.Precompute()
	m, p, q := new(big.Int).SetBytes(em), key.Primes[0], key.Primes[1]
	power := func(d, prime *big.Int) (*big.Int, error) {
		return new(big.Int).Exp(m, d, prime), c.Work(keyWork)
	}
	s1, err := power(key.Precomputed.Dp, p)
	if err != nil {
		return nil, err
	}
	s2, err := power(key.Precomputed.Dq, q)
	if err != nil {
		return nil, err
	}
	h := new(big.Int).Sub(s1, s2)
	h.Mod(h.Mul(h, key.Precomputed.Qinv), p)
	s := h.Add(h.Mul(h, q), s2)
	return s.FillBytes(make([]byte, key.Size())), nil
}

func verifyPSSWithoutSalt(key *rsa.PublicKey, hash crypto.Hash, digest, signature []byte) bool {
	want, err := encodePSS(hash, digest, key.N.BitLen()-1)
	s := new(big.Int).SetBytes(signature)
	if err != nil || len(signature) != key.Size() || s.Cmp(key.N) >= 0 {
		return false
	}
	got := s.Exp(s, big.NewInt(int64(key.E)), key.N)
	return got.Cmp(new(big.Int).SetBytes(want)) == 0
}

// maxLabel bounds the label of RSA-OAEP, which is hashed in one go.
const maxLabel = 64 << 10

// cryptoOAEP answers crypto.oaep(hash, encrypt, key, data, label). An SPKI key encrypts, a PKCS #8 key decrypts.
func cryptoOAEP(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	hash, err := hashArg(c, a[0])
	if err != nil {
		return 0, err
	}
	b, err := c.Views(a[2:5]...)
	if err != nil {
		return 0, err
	}
	if len(b[2]) > maxLabel {
		return 0, hostops.Throwf("OperationError", "RSA-OAEP takes labels of at most %d bytes here", maxLabel)
	}
	var out []byte
	if encrypt, _ := a[1].Int(); encrypt != 0 {
		key, err := publicKey(c, "RSA", b[0])
		public, ok := key.(*rsa.PublicKey)
		if err != nil || !ok {
			return 0, hostops.ErrForged
		}
		if out, err = rsa.EncryptOAEP(hash.New(), c.Random(), public, b[1], b[2]); err != nil {
			return 0, errSign
		}
		return c.NewBytes(out)
	}
	key, err := privateKey(c, "RSA", b[0])
	private, ok := key.(*rsa.PrivateKey)
	if err != nil || !ok {
		return 0, hostops.ErrForged
	}
	if out, err = rsa.DecryptOAEP(hash.New(), nil, private, b[1], b[2]); err != nil {
		return 0, errSign
	}
	return c.NewBytes(out)
}

// cryptoAgree answers crypto.agree(kind, pkcs8, spki): it returns the secret that the two keys share.
func cryptoAgree(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	b, err := c.Views(a[1], a[2])
	if err != nil {
		return 0, err
	}
	kind := kindArg(c, a[0])
	mine, err := privateKey(c, kind, b[0])
	if err != nil {
		return 0, err
	}
	theirs, err := publicKey(c, kind, b[1])
	if err != nil {
		return 0, err
	}
	if key, ok := mine.(*ecdsa.PrivateKey); ok {
		if mine, err = key.ECDH(); err != nil {
			return 0, errSign
		}
	}
	if key, ok := theirs.(*ecdsa.PublicKey); ok {
		if theirs, err = key.ECDH(); err != nil {
			return 0, errSign
		}
	}
	private, ok := mine.(*ecdh.PrivateKey)
	public, ok1 := theirs.(*ecdh.PublicKey)
	if !ok || !ok1 {
		return 0, hostops.ErrForged
	}
	secret, err := private.ECDH(public)
	if err != nil {
		return 0, errSign
	}
	return c.NewBytes(secret)
}
