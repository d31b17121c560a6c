package crypto

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// A kind of asymmetric key is the name of its curve, or RSA.
var curves = map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}

// maxRSABits bounds keys that are made or taken: work on them grows with the third power. Their primes have half as
// many.
const (
	minRSABits   = 1024
	maxRSABits   = 4096
	maxPrimeBits = maxRSABits/2 + 32
	// maxKeyBytes bounds an encoded key. RSA keys of maxRSABits have 2,400.
	maxKeyBytes = 16 << 10
	// keyWork is the work of parsing and checking a key, or of using it once.
	keyWork = 4 << 20
)

var errRSASize = hostops.Throwf("NotSupportedError", "RSA keys have %d to %d bits here", minRSABits, maxRSABits)

// errKeyData reports that bytes are no key. Its words are Node's, like those of checkKind.
var errKeyData = hostops.Throw("DataError", "Invalid keyData")

// checkKind returns an error if a key is not of the wanted kind.
func checkKind(kind, wanted string) error {
	switch {
	case kind == wanted:
		return nil
	case curves[kind] != nil && curves[wanted] != nil:
		return hostops.Throw("DataError", "Named curve mismatch")
	}
	return hostops.Throw("DataError", "Invalid key type")
}

// privateKey parses PKCS #8 and checks that it holds a key of a kind: *ecdsa.PrivateKey, ed25519.PrivateKey,
// *ecdh.PrivateKey (X25519) or *rsa.PrivateKey.
func privateKey(c *hostops.Call, kind string, der []byte) (any, error) {
	if err := announceKey(c, der); err != nil {
		return nil, err
	}
	if err := checkPKCS8(der); err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errKeyData
	}
	if err := checkKind(kindOf(key), kind); err != nil {
		return nil, err
	}
	return key, checkSize(key)
}

// publicKey parses SubjectPublicKeyInfo and checks that it holds a key of a kind.
func publicKey(c *hostops.Call, kind string, der []byte) (any, error) {
	if err := announceKey(c, der); err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, errKeyData
	}
	if err := checkKind(kindOf(key), kind); err != nil {
		return nil, err
	}
	return key, checkSize(key)
}

// announceKey announces the work of parsing and using a key. It goes by the key's length, which tells how large an
// RSA key is.
func announceKey(c *hostops.Call, der []byte) error {
	if len(der) > maxKeyBytes {
		return hostops.Throwf("DataError", "the key has %d bytes; at most %d are accepted", len(der), maxKeyBytes)
	}
	return c.Work(min(keyWork, 1000*(64+len(der))))
}

// checkPKCS8 checks the numbers of an RSA key before anything is computed with them: how long that takes depends on
// what the key claims to be. It leaves other keys to the parser.
func checkPKCS8(der []byte) error {
	var info struct {
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil || !info.Algorithm.Algorithm.Equal(rsaEncryption) {
		return nil
	}
	var k struct {
		Version          int
		N                *big.Int
		E                int
		D, P, Q          *big.Int
		DP, DQ, QI       *big.Int        `asn1:"optional"`
		AdditionalPrimes []asn1.RawValue `asn1:"optional,omitempty"`
	}
	if _, err := asn1.Unmarshal(info.Key, &k); err != nil {
		return nil
	}
	if len(k.AdditionalPrimes) > 0 {
		return errPrimes
	}
	for i, n := range []*big.Int{k.N, k.D, k.P, k.Q, k.DP, k.DQ, k.QI} {
		if n != nil && (n.BitLen() > maxRSABits || i > 1 && n.BitLen() > maxPrimeBits) {
			return errRSASize
		}
	}
	return nil
}

var (
	rsaEncryption = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	errPrimes     = hostops.Throwf("NotSupportedError", "RSA keys of more than two primes are not supported")
)

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
			return errPrimes
		}
	case *rsa.PublicKey:
		bits = key.N.BitLen()
	}
	if bits < minRSABits || bits > maxRSABits {
		return errRSASize
	}
	return nil
}

func marshalPrivate(c *hostops.Call, key any) (quickjs.Value, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return 0, hostops.Throwf("DataError", "the key cannot be encoded")
	}
	return c.NewBytes(der)
}

func marshalPublic(c *hostops.Call, key any) (quickjs.Value, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return 0, hostops.Throwf("DataError", "the key cannot be encoded")
	}
	return c.NewBytes(der)
}

// publicOf returns the public half of a private key.
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
func kindArg(c *hostops.Call, v quickjs.Value) string {
	kind, _ := c.Word(v, 32)
	return kind
}

// cryptoGenerate answers crypto.generate(kind): it returns a new private key. For RSA, kind is RSA:<bits> and the
// public exponent is 65537. Keys are made of the run's own randomness, so that a seed makes the same key again; the
// standard library's generators refuse that.
func cryptoGenerate(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	kind, bits, _ := strings.Cut(kindArg(c, a[0]), ":")
	if err := c.Work(keyWork / 8); err != nil {
		return 0, err
	}
	var key any
	var err error
	switch curve := curves[kind]; {
	case curve != nil:
		key, err = generateEC(c.Random(), curve)
	case kind == "Ed25519":
		seed := make([]byte, ed25519.SeedSize)
		if _, err = io.ReadFull(c.Random(), seed); err == nil {
			key = ed25519.NewKeyFromSeed(seed)
		}
	case kind == "X25519":
		secret := make([]byte, 32)
		if _, err = io.ReadFull(c.Random(), secret); err == nil {
			key, err = ecdh.X25519().NewPrivateKey(secret)
		}
	case kind == "RSA":
		n, _ := strconv.Atoi(bits)
		key, err = generateRSA(c, n)
	default:
		err = hostops.ErrForged
	}
	if err != nil {
		return 0, err
	}
	return marshalPrivate(c, key)
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

// generateRSA draws two primes.
func generateRSA(c *hostops.Call, bits int) (*rsa.PrivateKey, error) {
	if bits < minRSABits || bits > maxRSABits || bits%2 != 0 {
		return nil, hostops.Throwf("OperationError",
			"RSA keys have an even number of %d to %d bits here", minRSABits, maxRSABits)
	}
	const exponent = 65537
	one, e := big.NewInt(1), big.NewInt(exponent)
	random := c.Random()
	prime := func() (*big.Int, error) {
		b := make([]byte, bits/16+1)
		for {
			if _, err := io.ReadFull(random, b); err != nil {
				return nil, err
			}
			p := new(big.Int).SetBytes(b)
			p.Rsh(p, uint(len(b)*8-bits/2))
			p.SetBit(p.SetBit(p, bits/2-1, 1), bits/2-2, 1) // the product of two such has all its bits
			p.SetBit(p, 0, 1)
			if new(big.Int).Mod(new(big.Int).Sub(p, one), e).Sign() == 0 {
				continue
			}
			if ok, err := probablyPrime(c, p); ok || err != nil {
				return p, err
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
		if err := c.Work(keyWork); err != nil {
			return nil, err
		}
		totient := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		key := &rsa.PrivateKey{
			PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: exponent},
			D:         new(big.Int).ModInverse(e, totient), Primes: []*big.Int{p, q},
		}
		key.Precompute()
		if p.Cmp(q) != 0 && key.Validate() == nil {
			return key, nil
		}
	}
}

// smallPrimes are the numbers that candidates are divided by first, and the bases of the rounds for the remaining
// candidates. For random candidates of these sizes a handful of rounds would do (FIPS 186-5, table B.1).
var smallPrimes = []int64{3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73}

// probablyPrime tests a large odd random number by rounds of Miller and Rabin. The standard library has the same test
// without pauses.
func probablyPrime(c *hostops.Call, n *big.Int) (bool, error) {
	if err := c.Work(hostops.OpWork); err != nil {
		return false, err
	}
	var rest big.Int
	for _, p := range smallPrimes {
		if rest.Mod(n, big.NewInt(p)).Sign() == 0 {
			return false, nil
		}
	}
	one := big.NewInt(1)
	less := new(big.Int).Sub(n, one)
	twos := less.TrailingZeroBits()
	odd := new(big.Int).Rsh(less, twos)
	// A round is a power of as many bits as n has: some twelve milliseconds for 2,048.
	bits := n.BitLen()
	round := bits * bits / 4096 * bits
	passes := func(base int64) (bool, error) {
		if err := c.Work(round); err != nil {
			return false, err
		}
		x := new(big.Int).Exp(big.NewInt(base), odd, n)
		if x.Cmp(one) == 0 || x.Cmp(less) == 0 {
			return true, nil
		}
		for range twos - 1 {
			if x.Mod(x.Mul(x, x), n); x.Cmp(less) == 0 {
				return true, nil
			}
		}
		return false, nil
	}
	for _, base := range append([]int64{2}, smallPrimes...) {
		if ok, err := passes(base); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// cryptoPublic answers crypto.public(kind, pkcs8): it returns the public half of a key.
func cryptoPublic(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	der, err := c.View(a[1])
	if err != nil {
		return 0, err
	}
	key, err := privateKey(c, kindArg(c, a[0]), der)
	if err != nil {
		return 0, err
	}
	return marshalPublic(c, publicOf(key))
}

// cryptoCheck answers crypto.check(kind, private, der): it returns the canonical encoding of a key, or refuses it.
func cryptoCheck(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	der, err := c.View(a[2])
	if err != nil {
		return 0, err
	}
	if private, _ := a[1].Int(); private != 0 {
		key, err := privateKey(c, kindArg(c, a[0]), der)
		if err != nil {
			return 0, err
		}
		return marshalPrivate(c, key)
	}
	key, err := publicKey(c, kindArg(c, a[0]), der)
	if err != nil {
		return 0, err
	}
	return marshalPublic(c, key)
}

// cryptoRSAParams answers crypto.rsaParams(private, der): it returns [bits, public exponent].
func cryptoRSAParams(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	der, err := c.View(a[1])
	if err != nil {
		return 0, err
	}
	var key any
	if private, _ := a[0].Int(); private != 0 {
		if key, err = privateKey(c, "RSA", der); err == nil {
			key = publicOf(key)
		}
	} else {
		key, err = publicKey(c, "RSA", der)
	}
	if err != nil {
		return 0, err
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return 0, hostops.ErrForged
	}
	return c.NewJSON([]int{public.N.BitLen(), public.E})
}
