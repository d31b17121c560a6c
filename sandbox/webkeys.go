package sandbox

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// A kind of asymmetric key is the name of its curve, or RSA.
var curves = map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}

// maxRSABits bounds keys that are made or taken: work on them grows with the third power.
const (
	minRSABits = 1024
	maxRSABits = 4096
)

// privateKey parses PKCS #8 and checks that it holds a key of a kind: *ecdsa.PrivateKey, ed25519.PrivateKey,
// *ecdh.PrivateKey (X25519) or *rsa.PrivateKey.
func privateKey(kind string, der []byte) (any, error) {
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, refused("DataError", "the key is not a valid PKCS #8 private key")
	}
	if kindOf(key) != kind {
		return nil, refused("DataError", "the key is of another kind than %s", kind)
	}
	return key, checkSize(key)
}

// publicKey is the same for SubjectPublicKeyInfo.
func publicKey(kind string, der []byte) (any, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, refused("DataError", "the key is not a valid SubjectPublicKeyInfo")
	}
	if kindOf(key) != kind {
		return nil, refused("DataError", "the key is of another kind than %s", kind)
	}
	return key, checkSize(key)
}

func kindOf(key any) string {
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		return key.Curve.Params().Name
	case *ecdsa.PublicKey:
		return key.Curve.Params().Name
	case ed25519.PrivateKey, ed25519.PublicKey:
		return "Ed25519"
	case *ecdh.PrivateKey:
		return fmt.Sprint(key.Curve())
	case *ecdh.PublicKey:
		return fmt.Sprint(key.Curve())
	case *rsa.PrivateKey, *rsa.PublicKey:
		return "RSA"
	}
	return ""
}

func checkSize(key any) error {
	bits := minRSABits
	switch key := key.(type) {
	case *rsa.PrivateKey:
		bits = key.N.BitLen()
		if len(key.Primes) != 2 {
			return refused("NotSupportedError", "RSA keys of more than two primes are not supported")
		}
	case *rsa.PublicKey:
		bits = key.N.BitLen()
	}
	if bits < minRSABits || bits > maxRSABits {
		return refused("NotSupportedError", "RSA keys have %d to %d bits here", minRSABits, maxRSABits)
	}
	return nil
}

func marshalPrivate(in *quickjs.Instance, key any) (quickjs.Value, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return 0, refused("DataError", "the key cannot be encoded")
	}
	return in.Bytes(der)
}

func marshalPublic(in *quickjs.Instance, key any) (quickjs.Value, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return 0, refused("DataError", "the key cannot be encoded")
	}
	return in.Bytes(der)
}

// publicOf gives the public half of a private key.
func publicOf(key any) any {
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		return &key.PublicKey
	case ed25519.PrivateKey:
		return key.Public()
	case *ecdh.PrivateKey:
		return key.PublicKey()
	case *rsa.PrivateKey:
		return &key.PublicKey
	}
	return nil
}

// kindArg reads a kind.
func kindArg(in *quickjs.Instance, v quickjs.Value) string {
	kind, _ := in.Str(v, 32)
	return kind
}

// cryptoGenerate(kind) makes a private key. For RSA, kind is RSA:<bits>; the public exponent is 65537. All keys are made
// of the run's own randomness, so that a seed makes the same key again; the standard library's generators refuse that.
func cryptoGenerate(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	kind, bits, _ := strings.Cut(kindArg(in, a[0]), ":")
	var key any
	var err error
	switch curve := curves[kind]; {
	case curve != nil:
		key, err = generateEC(r.random(), curve)
	case kind == "Ed25519":
		seed := make([]byte, ed25519.SeedSize)
		if _, err = io.ReadFull(r.random(), seed); err == nil {
			key = ed25519.NewKeyFromSeed(seed)
		}
	case kind == "X25519":
		secret := make([]byte, 32)
		if _, err = io.ReadFull(r.random(), secret); err == nil {
			key, err = ecdh.X25519().NewPrivateKey(secret)
		}
	case kind == "RSA":
		n, _ := strconv.Atoi(bits)
		key, err = r.generateRSA(in, n)
	default:
		err = errForged
	}
	if err != nil {
		return 0, err
	}
	return marshalPrivate(in, key)
}

// generateEC draws scalars until one is in range.
func generateEC(random io.Reader, curve elliptic.Curve) (*ecdsa.PrivateKey, error) {
	n := curve.Params().N
	b := make([]byte, (n.BitLen()+7)/8)
	for {
		if _, err := io.ReadFull(random, b); err != nil {
			return nil, err
		}
		b[0] &= byte(0xff >> (len(b)*8 - n.BitLen()))
		if key, err := ecdsa.ParseRawPrivateKey(curve, b); err == nil {
			return key, nil
		}
	}
}

// generateRSA draws two primes, and polls between the candidates.
func (r *run) generateRSA(in *quickjs.Instance, bits int) (*rsa.PrivateKey, error) {
	if bits < minRSABits || bits > maxRSABits || bits%2 != 0 {
		return nil, refused("OperationError", "RSA keys have an even number of %d to %d bits here", minRSABits, maxRSABits)
	}
	const exponent = 65537
	one, e := big.NewInt(1), big.NewInt(exponent)
	random := r.random()
	prime := func() (*big.Int, error) {
		b := make([]byte, bits/16+1)
		for {
			if err := r.Poll(in); err != nil {
				return nil, err
			}
			if _, err := io.ReadFull(random, b); err != nil {
				return nil, err
			}
			p := new(big.Int).SetBytes(b)
			p.Rsh(p, uint(len(b)*8-bits/2))
			p.SetBit(p.SetBit(p, bits/2-1, 1), bits/2-2, 1) // the product of two such has all its bits
			p.SetBit(p, 0, 1)
			if new(big.Int).Mod(new(big.Int).Sub(p, one), e).Sign() != 0 && p.ProbablyPrime(20) {
				return p, nil
			}
		}
	}
	for {
		p, err := prime()
		if err != nil {
			return nil, err
		}
		q, err := prime()
		if err != nil {
			return nil, err
		}
		totient := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		key := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: exponent}, D: new(big.Int).ModInverse(e, totient), Primes: []*big.Int{p, q}}
		key.Precompute()
		if p.Cmp(q) != 0 && key.Validate() == nil {
			return key, nil
		}
	}
}

// cryptoPublic(kind, pkcs8) gives the public half.
func cryptoPublic(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	der, err := buffer(in, a[1])
	if err != nil {
		return 0, err
	}
	key, err := privateKey(kindArg(in, a[0]), der)
	if err != nil {
		return 0, err
	}
	return marshalPublic(in, publicOf(key))
}

// cryptoCheck(kind, private, der) gives the canonical encoding of a key, or refuses it.
func cryptoCheck(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	der, err := buffer(in, a[2])
	if err != nil {
		return 0, err
	}
	if private, _ := a[1].Int(); private != 0 {
		key, err := privateKey(kindArg(in, a[0]), der)
		if err != nil {
			return 0, err
		}
		return marshalPrivate(in, key)
	}
	key, err := publicKey(kindArg(in, a[0]), der)
	if err != nil {
		return 0, err
	}
	return marshalPublic(in, key)
}

// cryptoRSAParams(private, der) gives [bits, public exponent].
func cryptoRSAParams(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	der, err := buffer(in, a[1])
	if err != nil {
		return 0, err
	}
	var key any
	if private, _ := a[0].Int(); private != 0 {
		if key, err = privateKey("RSA", der); err == nil {
			key = publicOf(key)
		}
	} else {
		key, err = publicKey("RSA", der)
	}
	if err != nil {
		return 0, err
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return 0, errForged
	}
	return answerJSON(in, []int{public.N.BitLen(), public.E})
}
