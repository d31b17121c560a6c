package sandbox

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// The flags of a cipher operation.
const (
	cipherDecrypt = 1
	cipherPad     = 2
)

// errOpen are the failures of decryption, in OpenSSL's words.
var (
	errOpen  = &opError{"Error", "Unsupported state or unable to authenticate data"}
	errBlock = &opError{"Error", "error:1C80006B:Provider routines::wrong final block length"}
	errPad   = &opError{"Error", "error:1C800064:Provider routines::bad decrypt"}
)

// cipherOp(name, flags, key, iv, data, additional data) encrypts or decrypts all of data with AES.
func cipherOp(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	name, _ := in.Str(a[0], 32)
	flags, ok := a[1].Int()
	if !ok {
		return 0, errForged
	}
	var b [4][]byte
	for i := range b {
		var err error
		if b[i], err = buffer(in, a[2+i]); err != nil {
			return 0, err
		}
	}
	key, iv, data, extra := b[0], b[1], b[2], b[3]
	block, err := aes.NewCipher(key)
	if err != nil {
		return 0, &opError{"RangeError", "Invalid key length"}
	}
	mode := name[strings.LastIndexByte(name, '-')+1:]
	if mode != "gcm" && mode != "ecb" && len(iv) != aes.BlockSize {
		return 0, errForged
	}
	var out []byte
	switch mode {
	case "gcm":
		out, err = gcm(block, flags, iv, data, extra)
	case "ctr":
		stream := cipher.NewCTR(block, iv)
		err = r.feed(in, func(piece []byte) error { stream.XORKeyStream(piece, piece); return nil }, data)
		out = data
	case "cbc", "ecb":
		out, err = r.blocks(in, block, mode, flags, iv, data)
	default:
		err = errForged
	}
	if err != nil {
		return 0, err
	}
	return in.Bytes(out)
}

func gcm(block cipher.Block, flags int32, iv, data, extra []byte) ([]byte, error) {
	if len(iv) == 0 || len(data) > pieceBytes*64 {
		return nil, errForged
	}
	aead, err := cipher.NewGCMWithNonceSize(block, len(iv))
	if err != nil {
		return nil, errors.Join(errForged, err)
	}
	if flags&cipherDecrypt == 0 {
		return aead.Seal(nil, iv, data, extra), nil
	}
	out, err := aead.Open(nil, iv, data, extra)
	if err != nil {
		return nil, errOpen
	}
	return out, nil
}

// blocks works on whole blocks, with PKCS #7 padding unless it was turned off.
func (r *run) blocks(in *quickjs.Instance, block cipher.Block, mode string, flags int32, iv, data []byte) ([]byte, error) {
	const n = aes.BlockSize
	decrypt, pad := flags&cipherDecrypt != 0, flags&cipherPad != 0
	if !decrypt && pad {
		fill := n - len(data)%n
		for range fill {
			data = append(data, byte(fill))
		}
	}
	if len(data)%n != 0 || decrypt && pad && len(data) == 0 {
		return nil, errBlock
	}
	work := func(piece []byte) error {
		for i := 0; i < len(piece); i += n {
			if decrypt {
				block.Decrypt(piece[i:i+n], piece[i:i+n])
			} else {
				block.Encrypt(piece[i:i+n], piece[i:i+n])
			}
		}
		return nil
	}
	if mode == "cbc" {
		chain := cipher.NewCBCEncrypter(block, iv)
		if decrypt {
			chain = cipher.NewCBCDecrypter(block, iv)
		}
		work = func(piece []byte) error { chain.CryptBlocks(piece, piece); return nil }
	}
	if err := r.feed(in, work, data); err != nil {
		return nil, err
	}
	if decrypt && pad {
		fill := int(data[len(data)-1])
		if fill == 0 || fill > n {
			return nil, errPad
		}
		for _, c := range data[len(data)-fill:] {
			if int(c) != fill {
				return nil, errPad
			}
		}
		data = data[:len(data)-fill]
	}
	return data, nil
}
