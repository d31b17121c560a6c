package crypto

import (
	"crypto"
	_ "crypto/sha1" // the hashes that WebCrypto names
	_ "crypto/sha256"
	_ "crypto/sha3"
	_ "crypto/sha512"
	"crypto/subtle"
	"hash"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Ops are the operations behind crypto.subtle. Keys cross as bytes: secrets as they are, private keys in PKCS #8,
// public ones in SubjectPublicKeyInfo. They live in the guest's memory, as any of its values.
var Ops = map[string]hostops.Op{
	"crypto.digest":     cryptoDigest,
	"crypto.hmac":       cryptoHMAC,
	"crypto.hmacVerify": cryptoHMACVerify,
	"crypto.aes":        cryptoAES,
	"crypto.hkdf":       cryptoHKDF,
	"crypto.pbkdf2":     cryptoPBKDF2,
	"crypto.generate":   cryptoGenerate,
	"crypto.public":     cryptoPublic,
	"crypto.sign":       cryptoSign,
	"crypto.verify":     cryptoVerify,
	"crypto.oaep":       cryptoOAEP,
	"crypto.agree":      cryptoAgree,
	"crypto.check":      cryptoCheck,
	"crypto.fromRaw":    cryptoFromRaw,
	"crypto.toRaw":      cryptoToRaw,
	"crypto.fromJwk":    cryptoFromJWK,
	"crypto.toJwk":      cryptoToJWK,
	"crypto.rsaParams":  cryptoRSAParams,
}

var hashes = map[string]crypto.Hash{
	"SHA-1": crypto.SHA1, "SHA-256": crypto.SHA256, "SHA-384": crypto.SHA384, "SHA-512": crypto.SHA512,
	"SHA3-256": crypto.SHA3_256, "SHA3-384": crypto.SHA3_384, "SHA3-512": crypto.SHA3_512,
}

// hashArg returns the hash that an argument names.
func hashArg(c *hostops.Call, v quickjs.Value) (crypto.Hash, error) {
	name, _ := c.Word(v, 32)
	h, ok := hashes[name]
	if !ok {
		return 0, hostops.Throwf("NotSupportedError", "the hash %q is not supported", name)
	}
	return h, nil
}

// cryptoDigest answers crypto.digest(hash, data).
func cryptoDigest(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	algorithm, err := hashArg(c, a[0])
	if err != nil {
		return 0, err
	}
	data, err := c.View(a[1])
	if err != nil {
		return 0, err
	}
	return Sum(c, algorithm.New(), data)
}

// Sum answers with the hash of data.
func Sum(c *hostops.Call, h hash.Hash, data []byte) (quickjs.Value, error) {
	if err := Absorb(c, h, data); err != nil {
		return 0, err
	}
	return c.NewBytes(h.Sum(nil))
}

// macArgs computes the HMAC of (hash, key, data).
func macArgs(c *hostops.Call, a []quickjs.Value) ([]byte, error) {
	algorithm, err := hashArg(c, a[0])
	if err != nil {
		return nil, err
	}
	b, err := c.Views(a[1], a[2])
	if err != nil {
		return nil, err
	}
	h, err := MAC(c, algorithm.New, b[0])
	if err != nil {
		return nil, err
	}
	if err := Absorb(c, h, b[1]); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// cryptoHMAC answers crypto.hmac(hash, key, data).
func cryptoHMAC(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	mac, err := macArgs(c, a)
	if err != nil {
		return 0, err
	}
	return c.NewBytes(mac)
}

// cryptoHMACVerify answers crypto.hmacVerify(hash, key, data, signature). It compares in constant time.
func cryptoHMACVerify(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	mac, err := macArgs(c, a)
	if err != nil {
		return 0, err
	}
	signature, err := c.View(a[3])
	if err != nil {
		return 0, err
	}
	return quickjs.Bool(subtle.ConstantTimeCompare(mac, signature) == 1), nil
}

// cryptoHKDF answers crypto.hkdf(hash, key, salt, info, bytes).
func cryptoHKDF(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	algorithm, err := hashArg(c, a[0])
	if err != nil {
		return 0, err
	}
	b, err := c.Views(a[1], a[2], a[3])
	if err != nil {
		return 0, err
	}
	n, ok := a[4].Int()
	if !ok || n < 0 || int(n) > 255*algorithm.Size() {
		return 0, hostops.Throwf("OperationError", "HKDF gives at most %d bytes", 255*algorithm.Size())
	}
	out, err := HKDF(c, algorithm.New, b[0], b[1], b[2], int(n))
	if err != nil {
		return 0, err
	}
	return c.NewBytes(out)
}

// cryptoPBKDF2 answers crypto.pbkdf2(hash, password, salt, iterations, bytes).
func cryptoPBKDF2(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	algorithm, err := hashArg(c, a[0])
	if err != nil {
		return 0, err
	}
	b, err := c.Views(a[1], a[2])
	if err != nil {
		return 0, err
	}
	iterations, ok := a[3].Int()
	n, ok1 := a[4].Int()
	if !ok || !ok1 || iterations < 1 || n < 0 || n > MaxDerived {
		return 0, hostops.Throwf("OperationError", "PBKDF2: the iterations or the length are out of range")
	}
	out, err := PBKDF2(c, algorithm.New, b[0], b[1], int(iterations), int(n))
	if err != nil {
		return 0, err
	}
	return c.NewBytes(out)
}
