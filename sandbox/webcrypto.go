package sandbox

import (
	"crypto"
	"crypto/hkdf"
	"crypto/hmac"
	_ "crypto/sha1" // the hashes that WebCrypto names
	_ "crypto/sha256"
	_ "crypto/sha3"
	_ "crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"hash"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// cryptoOps are the operations behind crypto.subtle. Keys cross as bytes: secrets as they are, private keys in PKCS #8,
// public ones in SubjectPublicKeyInfo. They live in the guest's memory, as any of its values.
var cryptoOps = map[string]syncOp{
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

// hashArg is the hash that an argument names.
func hashArg(in *quickjs.Instance, v quickjs.Value) (crypto.Hash, error) {
	name, _ := in.Str(v, 32)
	h, ok := hashes[name]
	if !ok {
		return 0, refused("NotSupportedError", "the hash %q is not supported", name)
	}
	return h, nil
}

// buffers copies arguments out of the guest.
func buffers(in *quickjs.Instance, args ...quickjs.Value) ([][]byte, error) {
	out := make([][]byte, len(args))
	for i, a := range args {
		var err error
		if out[i], err = buffer(in, a); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// slice is how much a hash takes in between two polls.
const slice = 1 << 20

// absorb writes data to h, and ends with the run.
func (r *run) absorb(in *quickjs.Instance, h hash.Hash, data []byte) error {
	for len(data) > slice {
		h.Write(data[:slice])
		data = data[slice:]
		if err := r.Poll(in); err != nil {
			return err
		}
	}
	h.Write(data)
	return nil
}

// cryptoDigest(hash, data)
func cryptoDigest(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	algorithm, err := hashArg(in, a[0])
	if err != nil {
		return 0, err
	}
	data, err := buffer(in, a[1])
	if err != nil {
		return 0, err
	}
	h := algorithm.New()
	if err := r.absorb(in, h, data); err != nil {
		return 0, err
	}
	return in.Bytes(h.Sum(nil))
}

func (r *run) mac(in *quickjs.Instance, a []quickjs.Value) ([]byte, error) {
	algorithm, err := hashArg(in, a[0])
	if err != nil {
		return nil, err
	}
	b, err := buffers(in, a[1], a[2])
	if err != nil {
		return nil, err
	}
	h := hmac.New(algorithm.New, b[0])
	if err := r.absorb(in, h, b[1]); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// cryptoHMAC(hash, key, data)
func cryptoHMAC(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	mac, err := r.mac(in, a)
	if err != nil {
		return 0, err
	}
	return in.Bytes(mac)
}

// cryptoHMACVerify(hash, key, data, signature) compares in constant time.
func cryptoHMACVerify(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	mac, err := r.mac(in, a)
	if err != nil {
		return 0, err
	}
	signature, err := buffer(in, a[3])
	if err != nil {
		return 0, err
	}
	return quickjs.Bool(subtle.ConstantTimeCompare(mac, signature) == 1), nil
}

// cryptoHKDF(hash, key, salt, info, bytes)
func cryptoHKDF(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	algorithm, err := hashArg(in, a[0])
	if err != nil {
		return 0, err
	}
	b, err := buffers(in, a[1], a[2], a[3])
	if err != nil {
		return 0, err
	}
	n, ok := a[4].Int()
	if !ok || n < 0 || int(n) > 255*algorithm.Size() {
		return 0, refused("OperationError", "HKDF gives at most %d bytes", 255*algorithm.Size())
	}
	out, err := hkdf.Key(algorithm.New, b[0], b[1], string(b[2]), int(n))
	if err != nil {
		return 0, refused("OperationError", "HKDF: %v", err)
	}
	return in.Bytes(out)
}

// maxDerivedBytes bounds what PBKDF2 is asked for.
const maxDerivedBytes = 1 << 20

// cryptoPBKDF2(hash, password, salt, iterations, bytes) is RFC 8018's PBKDF2, which polls while it iterates.
func cryptoPBKDF2(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	algorithm, err := hashArg(in, a[0])
	if err != nil {
		return 0, err
	}
	b, err := buffers(in, a[1], a[2])
	if err != nil {
		return 0, err
	}
	iterations, ok := a[3].Int()
	n, ok1 := a[4].Int()
	if !ok || !ok1 || iterations < 1 || n < 0 || n > maxDerivedBytes {
		return 0, refused("OperationError", "PBKDF2: the iterations or the length are out of range")
	}
	h := hmac.New(algorithm.New, b[0])
	var out, sum []byte
	for block := uint32(1); len(out) < int(n); block++ {
		h.Reset()
		h.Write(b[1])
		h.Write(binary.BigEndian.AppendUint32(nil, block))
		sum = h.Sum(sum[:0])
		total := append([]byte(nil), sum...)
		for i := int32(1); i < iterations; i++ {
			if i%1024 == 0 {
				if err := r.Poll(in); err != nil {
					return 0, err
				}
			}
			h.Reset()
			h.Write(sum)
			sum = h.Sum(sum[:0])
			subtle.XORBytes(total, total, sum)
		}
		out = append(out, total...)
	}
	return in.Bytes(out[:n])
}
