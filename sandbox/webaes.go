package sandbox

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"math/big"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// errAES says that a decryption failed, and not why.
var errAES = &opError{"OperationError", "The operation failed for an operation-specific reason"}

// cryptoAES(mode, encrypt, key, iv, data, additional data). mode is GCM:<tag bits>, CTR:<counter bits>, CBC or KW.
func cryptoAES(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	text, _ := in.Str(a[0], 16)
	mode, size, _ := strings.Cut(text, ":")
	direction, _ := a[1].Int()
	encrypt := direction != 0
	b, err := buffers(in, a[2:6]...)
	if err != nil {
		return 0, err
	}
	key, iv, data := b[0], b[1], b[2]
	block, err := aes.NewCipher(key)
	if err != nil {
		return 0, errForged
	}
	var out []byte
	switch mode {
	case "GCM":
		out, err = aesGCM(block, encrypt, iv, data, b[3], size)
	case "CTR":
		out, err = aesCTR(block, iv, data, size)
	case "CBC":
		out, err = aesCBC(block, encrypt, iv, data)
	case "KW":
		out, err = aesKW(block, encrypt, data)
	default:
		err = errForged
	}
	if err != nil {
		return 0, err
	}
	return in.Bytes(out)
}

// aesGCM takes any length of iv and any tag that WebCrypto allows: a short tag is the start of the whole one.
func aesGCM(block cipher.Block, encrypt bool, iv, data, additional []byte, bits string) ([]byte, error) {
	n, err := strconv.Atoi(bits)
	if err != nil || n < 32 || n > 128 || n%8 != 0 {
		return nil, errForged
	}
	tag := n / 8
	gcm, err := cipher.NewGCMWithNonceSize(block, len(iv))
	if err != nil {
		return nil, errAES
	}
	if encrypt {
		out := gcm.Seal(nil, iv, data, additional)
		return out[:len(data)+tag], nil
	}
	if len(data) < tag {
		return nil, errAES
	}
	if tag == gcm.Overhead() {
		out, err := gcm.Open(nil, iv, data, additional)
		if err != nil {
			return nil, errAES
		}
		return out, nil
	}
	text, given := data[:len(data)-tag], data[len(data)-tag:]
	plain := gcm.Seal(nil, iv, make([]byte, len(text)), nil)[:len(text)] // the key stream
	subtle.XORBytes(plain, plain, text)
	again := gcm.Seal(nil, iv, plain, additional)
	if subtle.ConstantTimeCompare(again[len(text):len(text)+tag], given) != 1 {
		return nil, errAES
	}
	return plain, nil
}

// aesCTR counts in the last bits of the counter block alone: they wrap around, and the others stay.
func aesCTR(block cipher.Block, counter, data []byte, bits string) ([]byte, error) {
	n, err := strconv.Atoi(bits)
	if err != nil || n < 1 || n > 128 || len(counter) != aes.BlockSize {
		return nil, errForged
	}
	span := new(big.Int).Lsh(big.NewInt(1), uint(n))
	start := new(big.Int).SetBytes(counter)
	low := new(big.Int).Mod(start, span)
	blocks := big.NewInt(int64(len(data)+aes.BlockSize-1) / aes.BlockSize)
	if blocks.Cmp(span) > 0 {
		return nil, errAES // the counter would repeat
	}
	cut := len(data)
	if left := new(big.Int).Sub(span, low); blocks.Cmp(left) > 0 {
		cut = int(left.Int64()) * aes.BlockSize
	}
	out := make([]byte, len(data))
	cipher.NewCTR(block, counter).XORKeyStream(out[:cut], data[:cut])
	if cut < len(data) {
		wrapped := new(big.Int).Sub(start, low).FillBytes(make([]byte, aes.BlockSize))
		cipher.NewCTR(block, wrapped).XORKeyStream(out[cut:], data[cut:])
	}
	return out, nil
}

func aesCBC(block cipher.Block, encrypt bool, iv, data []byte) ([]byte, error) {
	if len(iv) != aes.BlockSize {
		return nil, errForged
	}
	if encrypt {
		pad := aes.BlockSize - len(data)%aes.BlockSize
		out := append(bytes.Clone(data), bytes.Repeat([]byte{byte(pad)}, pad)...)
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
		return out, nil
	}
	if len(data) == 0 || len(data)%aes.BlockSize != 0 {
		return nil, errAES
	}
	out := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	pad := int(out[len(out)-1])
	if pad == 0 || pad > aes.BlockSize || !bytes.Equal(out[len(out)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, errAES
	}
	return out[:len(out)-pad], nil
}

// aesKW is the key wrap of RFC 3394.
func aesKW(block cipher.Block, wrap bool, data []byte) ([]byte, error) {
	initial := bytes.Repeat([]byte{0xa6}, 8)
	if len(data)%8 != 0 || wrap && len(data) < 16 || !wrap && len(data) < 24 {
		return nil, errAES
	}
	var r []byte
	b := make([]byte, 16)
	if wrap {
		r = append(bytes.Clone(initial), data...)
		n := len(data) / 8
		for t := 1; t <= 6*n; t++ {
			at := ((t-1)%n + 1) * 8
			copy(b, r[:8])
			copy(b[8:], r[at:at+8])
			block.Encrypt(b, b)
			binary.BigEndian.PutUint64(r, binary.BigEndian.Uint64(b)^uint64(t))
			copy(r[at:], b[8:])
		}
		return r, nil
	}
	r = bytes.Clone(data)
	n := len(data)/8 - 1
	for t := 6 * n; t >= 1; t-- {
		at := ((t-1)%n + 1) * 8
		binary.BigEndian.PutUint64(b, binary.BigEndian.Uint64(r)^uint64(t))
		copy(b[8:], r[at:at+8])
		block.Decrypt(b, b)
		copy(r, b[:8])
		copy(r[at:], b[8:])
	}
	if subtle.ConstantTimeCompare(r[:8], initial) != 1 {
		return nil, errAES
	}
	return r[8:], nil
}
