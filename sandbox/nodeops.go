package sandbox

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/md5"  // Node has it, and old protocols need it
	"crypto/sha1" // as above
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// nodeOps gives the operations behind the Node modules: computation, except for "module", which says whether the run may
// have one at all.
func nodeOps(name string) syncOp {
	switch name {
	case "module":
		return moduleOp
	case "buffer.encode":
		return bufferEncode
	case "buffer.decode":
		return bufferDecode
	case "hash":
		return hashOp
	case "hmac":
		return hmacOp
	case "pbkdf2":
		return pbkdf2Op
	case "hkdf":
		return hkdfOp
	case "cipher":
		return cipherOp
	case "zlib":
		return zlibOp
	}
	return nil
}

// harmless are the modules that every run may load: they give nothing that the language does not.
var harmless = []string{
	"assert", "assert/strict", "console", "constants", "events", "module", "os", "perf_hooks", "process", "stream/consumers",
	"sys", "timers", "timers/promises", "util/types",
}

// provided are the modules that the library has, besides the harmless ones and their submodules.
var provided = []string{"buffer", "crypto", "fs", "http", "https", "path", "querystring", "stream", "string_decoder", "url", "util", "zlib"}

// moduleOp(id) answers true, or the code and the message of an error.
func moduleOp(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	id, ok := in.Str(a[0], 1024)
	if !ok {
		return answerJSON(in, [2]string{"MODULE_NOT_FOUND", "Cannot find module: its name is too long"})
	}
	name, node := builtinName(id)
	base, sub, _ := strings.Cut(name, "/")
	known := slices.Contains(provided, base) && (sub == "" || slices.Contains([]string{"fs/promises", "path/posix", "stream/promises", "stream/web"}, name))
	switch {
	case slices.Contains(harmless, name), known && r.mayLoad(base):
		return quickjs.Bool(true), nil
	case known:
		message := fmt.Sprintf("Cannot load module '%s': this execution may not use it", id)
		if r.grants.ModuleHint != nil {
			if hint := r.grants.ModuleHint(base); hint != "" {
				message += "; " + hint
			}
		}
		return answerJSON(in, [2]string{"ERR_ACCESS_DENIED", message})
	case node:
		return answerJSON(in, [2]string{"ERR_UNKNOWN_BUILTIN_MODULE", fmt.Sprintf("Cannot find module '%s': the sandbox does not have it under any policy", id)})
	case strings.HasPrefix(id, ".") || strings.HasPrefix(id, "/"):
		return answerJSON(in, [2]string{"MODULE_NOT_FOUND", fmt.Sprintf("Cannot find module '%s': it is not among the files", id)})
	}
	return answerJSON(in, [2]string{"MODULE_NOT_FOUND", fmt.Sprintf("Cannot find module '%s': nothing is installed at run time; give its files as node_modules/%s/…", id, id)})
}

func (r *run) mayLoad(name string) bool {
	if name == "fs" && r.grants.Files == FilesNone {
		return false
	}
	return slices.Contains(r.grants.Modules, "*") || slices.Contains(r.grants.Modules, name) || name == "fs" && r.grants.Files >= FilesRead
}

// bufferEncode(encoding, bytes) gives text.
func bufferEncode(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	encoding, _ := in.Str(a[0], 16)
	b, err := buffer(in, a[1])
	if err != nil {
		return 0, err
	}
	switch encoding {
	case "hex":
		return in.String(hex.EncodeToString(b))
	case "base64":
		return in.String(base64.StdEncoding.EncodeToString(b))
	case "base64url":
		return in.String(base64.RawURLEncoding.EncodeToString(b))
	}
	return 0, errForged
}

// bufferDecode(encoding, text) gives bytes. As Node does, hex ends at the first pair that is none, and base64 skips what
// is not of either alphabet and ends at the first "=".
func bufferDecode(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	encoding, _ := in.Str(a[0], 16)
	s, ok := in.Str(a[1], maxBytes)
	if !ok {
		return 0, errForged
	}
	switch encoding {
	case "hex":
		out := make([]byte, len(s)/2)
		n, _ := hex.Decode(out, []byte(s[:len(s)/2*2]))
		return in.Bytes(out[:n])
	case "base64", "base64url":
		s, _, _ = strings.Cut(s, "=")
		plain := make([]byte, 0, len(s))
		for i := range len(s) {
			switch c := s[i]; {
			case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/':
				plain = append(plain, c)
			case c == '-':
				plain = append(plain, '+')
			case c == '_':
				plain = append(plain, '/')
			}
		}
		if len(plain)%4 == 1 {
			plain = plain[:len(plain)-1]
		}
		out := make([]byte, base64.RawStdEncoding.DecodedLen(len(plain)))
		n, _ := base64.RawStdEncoding.Decode(out, plain)
		return in.Bytes(out[:n])
	}
	return 0, errForged
}

// hashOf gives a hash by Node's name for it.
func hashOf(name string) func() hash.Hash {
	switch name {
	case "md5":
		return md5.New
	case "sha1":
		return sha1.New
	case "sha224":
		return sha256.New224
	case "sha256":
		return sha256.New
	case "sha384":
		return sha512.New384
	case "sha512":
		return sha512.New
	case "sha512-224":
		return sha512.New512_224
	case "sha512-256":
		return sha512.New512_256
	case "sha3-224":
		return func() hash.Hash { return sha3.New224() }
	case "sha3-256":
		return func() hash.Hash { return sha3.New256() }
	case "sha3-384":
		return func() hash.Hash { return sha3.New384() }
	case "sha3-512":
		return func() hash.Hash { return sha3.New512() }
	}
	return nil
}

// hashArgs reads the name of a hash and n buffers.
func hashArgs(in *quickjs.Instance, a []quickjs.Value, n int) (func() hash.Hash, [][]byte, error) {
	name, _ := in.Str(a[0], 32)
	h := hashOf(name)
	if h == nil {
		return nil, nil, errForged
	}
	bufs := make([][]byte, n)
	for i := range bufs {
		var err error
		if bufs[i], err = buffer(in, a[1+i]); err != nil {
			return nil, nil, err
		}
	}
	return h, bufs, nil
}

// pieceBytes is how much is worked on between two looks at the clock.
const pieceBytes = 1 << 20

// feed writes b in pieces, so that the run's deadline holds while the host computes.
func (r *run) feed(in *quickjs.Instance, write func([]byte) error, b []byte) error {
	for piece := range slices.Chunk(b, pieceBytes) {
		if err := write(piece); err != nil {
			return err
		}
		if err := r.Poll(in); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) sum(in *quickjs.Instance, h hash.Hash, data []byte) (quickjs.Value, error) {
	err := r.feed(in, func(b []byte) error { _, err := h.Write(b); return err }, data)
	if err != nil {
		return 0, err
	}
	return in.Bytes(h.Sum(nil))
}

// hashOp(name, data).
func hashOp(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(in, a, 1)
	if err != nil {
		return 0, err
	}
	return r.sum(in, h(), b[0])
}

// hmacOp(name, key, data).
func hmacOp(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(in, a, 2)
	if err != nil {
		return 0, err
	}
	return r.sum(in, hmac.New(h, b[0]), b[1])
}

// maxDerived bounds keys that are derived, in bytes.
const maxDerived = 1 << 20

// pbkdf2Op(hash, password, salt, iterations, length), as RFC 8018 has it. The clock is looked at between iterations.
func pbkdf2Op(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(in, a, 2)
	if err != nil {
		return 0, err
	}
	iterations, ok := a[3].Int()
	length, ok2 := a[4].Int()
	if !ok || !ok2 || iterations < 1 || length < 0 {
		return 0, errForged
	}
	if length > maxDerived {
		return 0, &opError{"RangeError", fmt.Sprintf("at most %d bytes are derived", maxDerived)}
	}
	mac := hmac.New(h, b[0])
	var out []byte
	for block := uint32(1); len(out) < int(length); block++ {
		mac.Reset()
		mac.Write(b[1])
		mac.Write(binary.BigEndian.AppendUint32(nil, block))
		u := mac.Sum(nil)
		t := bytes.Clone(u)
		for i := int32(1); i < iterations; i++ {
			if i%1000 == 0 {
				if err := r.Poll(in); err != nil {
					return 0, err
				}
			}
			mac.Reset()
			mac.Write(u)
			u = mac.Sum(u[:0])
			for j := range t {
				t[j] ^= u[j]
			}
		}
		out = append(out, t...)
	}
	return in.Bytes(out[:length])
}

// hkdfOp(hash, key, salt, info, length).
func hkdfOp(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(in, a, 3)
	if err != nil {
		return 0, err
	}
	length, ok := a[4].Int()
	if !ok || length < 0 {
		return 0, errForged
	}
	out, err := hkdf.Key(h, b[0], b[1], string(b[2]), int(length))
	if err != nil {
		return 0, &opError{"RangeError", "Invalid key length"}
	}
	return in.Bytes(out)
}

// errTooLarge says that an output is longer than it may be.
var errTooLarge = errors.New("the output is too large")
