package node

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"strings"

	"golang.org/x/crypto/chacha20"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/crypto"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// The flags of a cipher operation.
const (
	cipherDecrypt = 1
	cipherPad     = 2
)

// errOpen are the failures of decryption, in OpenSSL's words.
var (
	errOpen  = hostops.Throw("Error", "Unsupported state or unable to authenticate data")
	errBlock = hostops.Throw("Error", "error:1C80006B:Provider routines::wrong final block length")
	errPad   = hostops.Throw("Error", "error:1C800064:Provider routines::bad decrypt")
)

// cipherOp answers cipher(name, flags, key, iv, data, additional data): it encrypts or decrypts all of data with AES,
// ChaCha20-Poly1305 or ChaCha20.
func cipherOp(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	name, _ := c.Word(a[0], 32)
	flags, ok := a[1].Int()
	if !ok {
		return 0, hostops.ErrForged
	}
	b, err := c.Views(a[2:6]...)
	if err != nil {
		return 0, err
	}
	key, iv, data, extra := b[0], b[1], b[2], b[3]
	if strings.HasPrefix(name, chachaStream) {
		out, err := chaCha(c, name, flags, key, iv, data, extra)
		if err != nil {
			return 0, err
		}
		return c.NewBytes(out)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return 0, hostops.Throw("RangeError", "Invalid key length")
	}
	mode := name[strings.LastIndexByte(name, '-')+1:]
	if mode != "gcm" && mode != "ecb" && len(iv) != aes.BlockSize {
		return 0, hostops.ErrForged
	}
	var out []byte
	switch mode {
	case "gcm":
		out, err = gcm(c, block, flags, iv, data, extra)
	case "ctr":
		out, err = crypto.Through(c, data, 0, cipher.NewCTR(block, iv).XORKeyStream)
	case "cbc", "ecb":
		out, err = blocks(c, block, mode, flags, iv, data)
	default:
		err = hostops.ErrForged
	}
	if err != nil {
		return 0, err
	}
	return c.NewBytes(out)
}

func gcm(c *hostops.Call, block cipher.Block, flags int32, iv, data, extra []byte) ([]byte, error) {
	if len(iv) == 0 {
		return nil, hostops.ErrForged
	}
	aead, err := cipher.NewGCMWithNonceSize(block, len(iv))
	if err != nil {
		return nil, hostops.ErrForged
	}
	return sealOrOpen(c, aead, flags, iv, data, extra)
}

// chacha is Node's name of an AEAD cipher (RFC 8439), and chachaStream that of the stream cipher in it. The iv of the
// latter is the block counter, in four bytes of which the lowest is the first, and the nonce.
const (
	chacha       = "chacha20-poly1305"
	chachaStream = "chacha20"
)

func chaCha(c *hostops.Call, name string, flags int32, key, iv, data, extra []byte) ([]byte, error) {
	aead, err := chacha20poly1305.New(key)
	if err != nil {
		return nil, hostops.Throw("RangeError", "Invalid key length")
	}
	if name == chacha && len(iv) == aead.NonceSize() {
		return sealOrOpen(c, aead, flags, iv, data, extra)
	}
	if name != chachaStream || len(iv) != 4+aead.NonceSize() {
		return nil, hostops.ErrForged
	}
	stream, err := chacha20.NewUnauthenticatedCipher(key, iv[4:])
	if err != nil {
		return nil, hostops.ErrForged
	}
	first := binary.LittleEndian.Uint32(iv)
	if uint64(first)+uint64(len(data)+63)/64 > 1<<32 {
		return nil, hostops.ErrForged // the counter would start again
	}
	stream.SetCounter(first)
	return crypto.Through(c, data, 0, stream.XORKeyStream)
}

func sealOrOpen(c *hostops.Call, aead cipher.AEAD, flags int32, iv, data, extra []byte) ([]byte, error) {
	if err := crypto.AnnounceGCM(c, 1, iv, data, extra); err == error(crypto.ErrSealed) {
		return nil, hostops.Throw("RangeError", crypto.ErrSealed.Message)
	} else if err != nil {
		return nil, err
	}
	room, err := c.Make(len(data) + aead.Overhead())
	if err != nil {
		return nil, err
	}
	if flags&cipherDecrypt == 0 {
		return aead.Seal(room[:0], iv, data, extra), nil
	}
	out, err := aead.Open(room[:0], iv, data, extra)
	if err != nil {
		return nil, errOpen
	}
	return out, nil
}

// blocks encrypts or decrypts whole blocks, with PKCS #7 padding unless it is turned off.
func blocks(c *hostops.Call, block cipher.Block, mode string, flags int32, iv, data []byte) ([]byte, error) {
	const n = aes.BlockSize
	decrypt, pad := flags&cipherDecrypt != 0, flags&cipherPad != 0
	whole, room := len(data)/n*n, 0
	if !decrypt && pad {
		room = n
	} else if whole != len(data) || decrypt && pad && len(data) == 0 {
		return nil, errBlock
	}
	work := func(dst, src []byte) {
		for i := 0; i < len(src); i += n {
			if decrypt {
				block.Decrypt(dst[i:i+n], src[i:i+n])
			} else {
				block.Encrypt(dst[i:i+n], src[i:i+n])
			}
		}
	}
	if mode == "cbc" {
		chain := cipher.NewCBCEncrypter(block, iv)
		if decrypt {
			chain = cipher.NewCBCDecrypter(block, iv)
		}
		work = chain.CryptBlocks
	}
	out, err := crypto.Through(c, data[:whole], room, work)
	if err != nil {
		return nil, err
	}
	if room > 0 {
		last := append(out[whole:whole], data[whole:]...)
		fill := n - len(last)
		last = append(last, bytes.Repeat([]byte{byte(fill)}, fill)...)
		work(last, last)
	}
	if decrypt && pad {
		fill := int(out[len(out)-1])
		if fill == 0 || fill > n {
			return nil, errPad
		}
		for _, b := range out[len(out)-fill:] {
			if int(b) != fill {
				return nil, errPad
			}
		}
		out = out[:len(out)-fill]
	}
	return out, nil
}
