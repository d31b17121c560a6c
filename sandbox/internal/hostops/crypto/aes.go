package crypto

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// errAES reports that a decryption failed, and not why.
var errAES = hostops.Throw("OperationError", "The operation failed for an operation-specific reason")

// maxSealed bounds what AES-GCM works on at a time, which cannot be divided: data and additional data, in bytes.
const maxSealed = 32 << 20

// ErrSealed reports that a text is too long for AES-GCM.
var ErrSealed = hostops.Throw("OperationError", fmt.Sprintf("AES-GCM takes at most %d bytes at a time here", maxSealed))

// cryptoAES answers crypto.aes(mode, encrypt, key, iv, data, additional data). mode is GCM:<tag bits>, CTR:<counter
// bits>, CBC or KW.
func cryptoAES(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	text, _ := c.Word(a[0], 16)
	mode, size, _ := strings.Cut(text, ":")
	direction, _ := a[1].Int()
	encrypt := direction != 0
	b, err := c.Views(a[2:6]...)
	if err != nil {
		return 0, err
	}
	key, iv, data := b[0], b[1], b[2]
	block, err := aes.NewCipher(key)
	if err != nil {
		return 0, hostops.ErrForged
	}
	var out []byte
	switch mode {
	case "GCM":
		out, err = aesGCM(c, block, encrypt, iv, data, b[3], size)
	case "CTR":
		out, err = aesCTR(c, block, iv, data, size)
	case "CBC":
		out, err = aesCBC(c, block, encrypt, iv, data)
	case "KW":
		out, err = aesKW(c, block, encrypt, data)
	default:
		err = hostops.ErrForged
	}
	if err != nil {
		return 0, err
	}
	return c.NewBytes(out)
}

// AnnounceGCM announces the work of AES-GCM, a quarter of a unit a byte for each of some times, and refuses input
// that is too long.
func AnnounceGCM(c *hostops.Call, times int, parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n > maxSealed {
		return ErrSealed
	}
	return c.Work(times * n / 4)
}

// aesGCM takes any length of iv and any tag that WebCrypto allows: a short tag is the start of the whole one.
func aesGCM(
	c *hostops.Call, block cipher.Block, encrypt bool, iv, data, additional []byte, bits string,
) ([]byte, error) {
	n, err := strconv.Atoi(bits)
	if err != nil || n < 32 || n > 128 || n%8 != 0 {
		return nil, hostops.ErrForged
	}
	tag := n / 8
	gcm, err := cipher.NewGCMWithNonceSize(block, len(iv))
	if err != nil {
		return nil, errAES
	}
	if err := AnnounceGCM(c, 1, iv, data, additional); err != nil {
		return nil, err
	}
	// It appends its output and the tag.
	room, err := c.Make(len(data) + gcm.Overhead())
	if err != nil {
		return nil, err
	}
	if encrypt {
		out := gcm.Seal(room[:0], iv, data, additional)
		return out[:len(data)+tag], nil
	}
	if len(data) < tag {
		return nil, errAES
	}
	if tag == gcm.Overhead() {
		out, err := gcm.Open(room[:0], iv, data, additional)
		if err != nil {
			return nil, errAES
		}
		return out, nil
	}
	text, given := data[:len(data)-tag], data[len(data)-tag:]
	if err := c.Hold(2*len(text) + gcm.Overhead()); err != nil {
		return nil, err
	}
	plain := gcm.Seal(room[:0], iv, make([]byte, len(text)), nil)[:len(text)] // the key stream
	subtle.XORBytes(plain, plain, text)
	if err := AnnounceGCM(c, 1, iv, data, additional); err != nil {
		return nil, err
	}
	again := gcm.Seal(make([]byte, 0, len(text)+gcm.Overhead()), iv, plain, additional)
	if subtle.ConstantTimeCompare(again[len(text):len(text)+tag], given) != 1 {
		return nil, errAES
	}
	return plain, nil
}

// Through passes data through a cipher, piece by piece, and returns the output. work handles one piece.
func Through(c *hostops.Call, data []byte, room int, work func(dst, src []byte)) ([]byte, error) {
	out, err := c.Make(len(data) + room)
	if err != nil {
		return nil, err
	}
	at := 0
	return out, c.Pieces(data, 1, func(piece []byte) error {
		work(out[at:at+len(piece)], piece)
		at += len(piece)
		return nil
	})
}

// aesCTR counts only in the last bits of the counter block: they wrap around, and the others stay.
func aesCTR(c *hostops.Call, block cipher.Block, counter, data []byte, bits string) ([]byte, error) {
	n, err := strconv.Atoi(bits)
	if err != nil || n < 1 || n > 128 || len(counter) != aes.BlockSize {
		return nil, hostops.ErrForged
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
	stream := cipher.NewCTR(block, counter)
	done := 0
	return Through(c, data, 0, func(dst, src []byte) {
		if n := cut - done; n < len(src) { // it wraps around in here, or did before
			if n = max(n, 0); n > 0 || done == cut {
				stream.XORKeyStream(dst[:n], src[:n])
				stream = cipher.NewCTR(block, new(big.Int).Sub(start, low).FillBytes(make([]byte, aes.BlockSize)))
			}
			stream.XORKeyStream(dst[n:], src[n:])
		} else {
			stream.XORKeyStream(dst, src)
		}
		done += len(src)
	})
}

func aesCBC(c *hostops.Call, block cipher.Block, encrypt bool, iv, data []byte) ([]byte, error) {
	if len(iv) != aes.BlockSize {
		return nil, hostops.ErrForged
	}
	if encrypt {
		whole := len(data) / aes.BlockSize * aes.BlockSize
		chain := cipher.NewCBCEncrypter(block, iv)
		out, err := Through(c, data[:whole], aes.BlockSize, chain.CryptBlocks)
		if err != nil {
			return nil, err
		}
		last := append(out[whole:whole], data[whole:]...)
		pad := aes.BlockSize - len(last)
		last = append(last, bytes.Repeat([]byte{byte(pad)}, pad)...)
		chain.CryptBlocks(last, last)
		return out, nil
	}
	if len(data) == 0 || len(data)%aes.BlockSize != 0 {
		return nil, errAES
	}
	out, err := Through(c, data, 0, cipher.NewCBCDecrypter(block, iv).CryptBlocks)
	if err != nil {
		return nil, err
	}
	pad := int(out[len(out)-1])
	if pad == 0 || pad > aes.BlockSize || !bytes.Equal(out[len(out)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, errAES
	}
	return out[:len(out)-pad], nil
}

// aesKW wraps or unwraps a key (RFC 3394). The work of a step is stepWork.
func aesKW(c *hostops.Call, block cipher.Block, wrap bool, data []byte) ([]byte, error) {
	const (
		stepWork = 16
		atOnce   = hostops.Quantum / stepWork
	)
	initial := bytes.Repeat([]byte{0xa6}, 8)
	if len(data)%8 != 0 || wrap && len(data) < 16 || !wrap && len(data) < 24 {
		return nil, errAES
	}
	r, err := c.Make(len(data) + 8)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 16)
	if wrap {
		r = append(append(r[:0], initial...), data...)
		n := len(data) / 8
		for t := 1; t <= 6*n; t++ {
			if t%atOnce == 1 {
				if err := c.Work(stepWork * min(atOnce, 6*n-t+1)); err != nil {
					return nil, err
				}
			}
			at := ((t-1)%n + 1) * 8
			copy(b, r[:8])
			copy(b[8:], r[at:at+8])
			block.Encrypt(b, b)
			binary.BigEndian.PutUint64(r, binary.BigEndian.Uint64(b)^uint64(t))
			copy(r[at:], b[8:])
		}
		return r, nil
	}
	r = append(r[:0], data...)
	n := len(data)/8 - 1
	for t := 6 * n; t >= 1; t-- {
		if t%atOnce == 0 || t == 6*n {
			if err := c.Work(stepWork * min(atOnce, t)); err != nil {
				return nil, err
			}
		}
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
