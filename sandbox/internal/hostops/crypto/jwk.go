package crypto

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// cryptoFromRaw answers crypto.fromRaw(kind, bytes): it returns the public key that has a raw form.
func cryptoFromRaw(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	raw, err := c.View(a[1])
	if err != nil {
		return 0, err
	}
	if err := announceKey(c, raw); err != nil {
		return 0, err
	}
	key, err := rawPublic(kindArg(c, a[0]), raw)
	if err != nil {
		return 0, err
	}
	return marshalPublic(c, key)
}

func rawPublic(kind string, raw []byte) (any, error) {
	bad := errKeyData
	if curves[kind] == nil {
		bad = hostops.Throwf("DataError", "%s raw keys must be exactly 32-bytes", kind)
	}
	switch {
	case curves[kind] != nil:
		key, err := ecdsa.ParseUncompressedPublicKey(curves[kind], raw)
		if err != nil {
			return nil, bad
		}
		return key, nil
	case kind == "Ed25519" && len(raw) == ed25519.PublicKeySize:
		return ed25519.PublicKey(raw), nil
	case kind == "X25519":
		key, err := ecdh.X25519().NewPublicKey(raw)
		if err != nil {
			return nil, bad
		}
		return key, nil
	}
	return nil, bad
}

// cryptoToRaw answers crypto.toRaw(kind, spki): it returns the raw form of a public key.
func cryptoToRaw(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	der, err := c.View(a[1])
	if err != nil {
		return 0, err
	}
	key, err := publicKey(c, kindArg(c, a[0]), der)
	if err != nil {
		return 0, err
	}
	var raw []byte
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if raw, err = key.Bytes(); err != nil {
			return 0, hostops.ErrForged
		}
	case ed25519.PublicKey:
		raw = key
	case *ecdh.PublicKey:
		raw = key.Bytes()
	default:
		return 0, hostops.ErrForged
	}
	return c.NewBytes(raw)
}

// jwk holds the members of a JSON Web Key that are key material, as base64url without padding.
type jwk struct {
	X  string `json:"x,omitempty"`
	Y  string `json:"y,omitempty"`
	D  string `json:"d,omitempty"`
	N  string `json:"n,omitempty"`
	E  string `json:"e,omitempty"`
	P  string `json:"p,omitempty"`
	Q  string `json:"q,omitempty"`
	DP string `json:"dp,omitempty"`
	DQ string `json:"dq,omitempty"`
	QI string `json:"qi,omitempty"`
}

// fields decodes members. None of them may be missing.
func fields(members ...string) ([][]byte, error) {
	out := make([][]byte, len(members))
	for i, m := range members {
		b, err := base64.RawURLEncoding.DecodeString(m)
		if err != nil || len(b) == 0 {
			return nil, errKeyData
		}
		out[i] = b
	}
	return out, nil
}

// cryptoFromJWK answers crypto.fromJwk(kind, json): it returns PKCS #8 for a key with d, and SubjectPublicKeyInfo for
// a key without.
func cryptoFromJWK(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	text, ok := c.Word(a[1], hostops.MaxWord)
	var k jwk
	if err := c.Work(keyWork + 16*len(text)); err != nil {
		return 0, err
	}
	if !ok || json.Unmarshal([]byte(text), &k) != nil {
		return 0, errKeyData
	}
	kind := kindArg(c, a[0])
	var key any
	var err error
	switch {
	case kind == "RSA":
		key, err = k.rsa()
	case curves[kind] != nil:
		key, err = k.ec(kind)
	default:
		key, err = k.okp(kind)
	}
	if err == nil {
		err = checkSize(key)
	}
	if err != nil {
		return 0, err
	}
	if k.D != "" {
		return marshalPrivate(c, key)
	}
	return marshalPublic(c, key)
}

func (k *jwk) ec(kind string) (any, error) {
	b, err := fields(k.X, k.Y)
	size := (curves[kind].Params().BitSize + 7) / 8
	if err != nil || len(b[0]) != size || len(b[1]) != size {
		return nil, errKeyData
	}
	point := append(append([]byte{4}, b[0]...), b[1]...)
	public, err := ecdsa.ParseUncompressedPublicKey(curves[kind], point)
	if err != nil {
		return nil, errKeyData
	}
	if k.D == "" {
		return public, nil
	}
	d, err := fields(k.D)
	if err != nil || len(d[0]) != size {
		return nil, errKeyData
	}
	key, err := ecdsa.ParseRawPrivateKey(curves[kind], d[0])
	if err != nil || !key.PublicKey.Equal(public) {
		return nil, errKeyData
	}
	return key, nil
}

func (k *jwk) okp(kind string) (any, error) {
	x, err := fields(k.X)
	if err != nil || len(x[0]) != 32 {
		return nil, errKeyData
	}
	if k.D == "" {
		return rawPublic(kind, x[0])
	}
	d, err := fields(k.D)
	if err != nil || len(d[0]) != 32 {
		return nil, errKeyData
	}
	if kind == "Ed25519" {
		key := ed25519.NewKeyFromSeed(d[0])
		if !bytes.Equal(key[32:], x[0]) {
			return nil, errKeyData
		}
		return key, nil
	}
	key, err := ecdh.X25519().NewPrivateKey(d[0])
	if err != nil || !bytes.Equal(key.PublicKey().Bytes(), x[0]) {
		return nil, errKeyData
	}
	return key, nil
}

func (k *jwk) rsa() (any, error) {
	b, err := fields(k.N, k.E)
	if err != nil {
		return nil, err
	}
	if len(b[0]) > maxRSABits/8 {
		return nil, errRSASize
	}
	e := new(big.Int).SetBytes(b[1])
	if !e.IsInt64() || e.Int64() < 3 || e.Int64() > 1<<31-1 {
		return nil, errKeyData
	}
	public := rsa.PublicKey{N: new(big.Int).SetBytes(b[0]), E: int(e.Int64())}
	if k.D == "" {
		return &public, nil
	}
	if b, err = fields(k.D, k.P, k.Q, k.DP, k.DQ, k.QI); err != nil {
		return nil, err
	}
	n := make([]*big.Int, len(b))
	for i := range b {
		if n[i] = new(big.Int).SetBytes(b[i]); n[i].BitLen() > maxRSABits || i > 0 && n[i].BitLen() > maxPrimeBits {
			return nil, errRSASize
		}
	}
	key := &rsa.PrivateKey{PublicKey: public, D: n[0], Primes: n[1:3]}
	key.Precompute()
	c := key.Precomputed
	if key.Validate() != nil || c.Dp == nil || c.Dp.Cmp(n[3]) != 0 || c.Dq.Cmp(n[4]) != 0 || c.Qinv.Cmp(n[5]) != 0 {
		return nil, errKeyData
	}
	return key, nil
}

// cryptoToJWK answers crypto.toJwk(kind, private, der): it returns the members that hold the key.
func cryptoToJWK(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	der, err := c.View(a[2])
	if err != nil {
		return 0, err
	}
	kind := kindArg(c, a[0])
	var key, public any
	if private, _ := a[1].Int(); private != 0 {
		key, err = privateKey(c, kind, der)
		public = publicOf(key)
	} else {
		public, err = publicKey(c, kind, der)
	}
	if err != nil {
		return 0, err
	}
	var k jwk
	k.setPublic(public)
	k.setPrivate(key)
	return c.NewJSON(k)
}

var encodeField = base64.RawURLEncoding.EncodeToString

func (k *jwk) setPublic(key any) {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if point, err := key.Bytes(); err == nil { // it was parsed, so it is on the curve
			size := len(point) / 2
			k.X, k.Y = encodeField(point[1:1+size]), encodeField(point[1+size:])
		}
	case ed25519.PublicKey:
		k.X = encodeField(key)
	case *ecdh.PublicKey:
		k.X = encodeField(key.Bytes())
	case *rsa.PublicKey:
		k.N, k.E = encodeField(key.N.Bytes()), encodeField(big.NewInt(int64(key.E)).Bytes())
	}
}

func (k *jwk) setPrivate(key any) {
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		if d, err := key.Bytes(); err == nil {
			k.D = encodeField(d)
		}
	case ed25519.PrivateKey:
		k.D = encodeField(key.Seed())
	case *ecdh.PrivateKey:
		k.D = encodeField(key.Bytes())
	case *rsa.PrivateKey:
		key.Precompute()
		k.D, k.P, k.Q = encodeField(key.D.Bytes()), encodeField(key.Primes[0].Bytes()), encodeField(key.Primes[1].Bytes())
		pre := &key.Precomputed
		k.DP, k.DQ, k.QI = encodeField(pre.Dp.Bytes()), encodeField(pre.Dq.Bytes()), encodeField(pre.Qinv.Bytes())
	}
}
