package sandbox

import (
	"crypto/md5"  // Node has it, and old protocols need it
	"crypto/sha1" // as above
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
)

// nodeOps are the operations behind the Node modules: computation, except for "module", which says whether the run may
// have one at all.
var nodeOps = map[string]syncOp{
	"module":        moduleOp,
	"buffer.encode": bufferEncode,
	"buffer.decode": bufferDecode,
	"hash":          hashOp,
	"hmac":          hmacOp,
	"pbkdf2":        pbkdf2Op,
	"hkdf":          hkdfOp,
	"cipher":        cipherOp,
	"zlib":          zlibOp,
}

// harmless are the modules that every run may load: they give nothing that the language does not.
var harmless = []string{
	"assert", "assert/strict", "console", "constants", "events", "module", "os", "perf_hooks", "process", "stream/consumers",
	"sys", "timers", "timers/promises", "util/types",
}

// provided are the modules that the library has, besides the harmless ones and their submodules.
var provided = []string{"buffer", "crypto", "fs", "http", "https", "path", "querystring", "stream", "string_decoder", "url", "util", "zlib"}

// moduleOp(id) answers true, or the code and the message of an error.
func moduleOp(c *call, a []quickjs.Value) (quickjs.Value, error) {
	id, ok := c.word(a[0], 1024)
	if !ok {
		return c.json([2]string{"MODULE_NOT_FOUND", "Cannot find module: its name is too long"})
	}
	name, node := source.NodeModule(id)
	base, sub, _ := strings.Cut(name, "/")
	known := slices.Contains(provided, base) && (sub == "" || slices.Contains([]string{"fs/promises", "path/posix", "stream/promises", "stream/web"}, name))
	switch {
	case slices.Contains(harmless, name), known && c.mayLoad(base):
		return quickjs.Bool(true), nil
	case known:
		message := fmt.Sprintf("Cannot load module '%s': this execution may not use it", id)
		if c.grants.ModuleHint != nil {
			if hint := c.grants.ModuleHint(base); hint != "" {
				message += "; " + hint
			}
		}
		return c.json([2]string{"ERR_ACCESS_DENIED", message})
	case node:
		return c.json([2]string{"ERR_UNKNOWN_BUILTIN_MODULE", fmt.Sprintf("Cannot find module '%s': the sandbox does not have it under any policy", id)})
	case strings.HasPrefix(id, ".") || strings.HasPrefix(id, "/"):
		return c.json([2]string{"MODULE_NOT_FOUND", fmt.Sprintf("Cannot find module '%s': it is not among the files", id)})
	}
	return c.json([2]string{"MODULE_NOT_FOUND", fmt.Sprintf("Cannot find module '%s': nothing is installed at run time; give its files as node_modules/%s/…", id, id)})
}

func (r *run) mayLoad(name string) bool {
	if name == "fs" && r.grants.Files == FilesNone {
		return false
	}
	return slices.Contains(r.grants.Modules, "*") || slices.Contains(r.grants.Modules, name) || name == "fs" && r.grants.Files >= FilesRead
}

// bufferEncode(encoding, bytes) gives text.
func bufferEncode(c *call, a []quickjs.Value) (quickjs.Value, error) {
	encoding, _ := c.word(a[0], 16)
	b, err := c.view(a[1])
	if err != nil {
		return 0, err
	}
	switch encoding {
	case "hex":
		out := growing{c: c}
		if err := out.room(hex.EncodedLen(len(b))); err != nil {
			return 0, err
		}
		err := c.pieces(b, 1, func(piece []byte) error {
			out.b = hex.AppendEncode(out.b, piece)
			return nil
		})
		if err != nil {
			return 0, err
		}
		return c.string(stringOf(out.b))
	case "base64":
		return c.encoded(base64.StdEncoding, b)
	case "base64url":
		return c.encoded(base64.RawURLEncoding, b)
	}
	return 0, errForged
}

// bufferDecode(encoding, text) gives bytes. As Node does, hex ends at the first pair that is none, and base64 skips what
// is not of either alphabet and ends at the first "=".
func bufferDecode(c *call, a []quickjs.Value) (quickjs.Value, error) {
	encoding, _ := c.word(a[0], 16)
	t, ok := c.in.Text(a[1])
	if !ok || encoding != "hex" && encoding != "base64" && encoding != "base64url" {
		return 0, errForged
	}
	out := growing{c: c}
	if err := out.room(t.Len()/4*3 + 3); err != nil {
		return 0, err
	}
	var d sextets
	half, ended := -1, false
	err := c.parts(t, 2, func(part quickjs.Text) error {
		units, ok := part.Latin1()
		if !ok {
			units = []byte(part.String()) // what is not ASCII is of neither alphabet, in UTF-8 too
		}
		for _, unit := range units {
			switch {
			case ended:
				return nil
			case encoding == "hex":
				digit := hexDigit(unit)
				if ended = digit < 0; ended {
				} else if half < 0 {
					half = digit
				} else {
					out.b, half = append(out.b, byte(half<<4|digit)), -1
				}
			case unit == '=':
				ended = true
			default:
				if unit == '-' {
					unit = '+'
				} else if unit == '_' {
					unit = '/'
				}
				if v := base64Values[unit]; v < 64 {
					if b, ok := d.push(v); ok {
						out.b = append(out.b, b)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return c.bytes(out.b)
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
func hashArgs(c *call, a []quickjs.Value, n int) (func() hash.Hash, [][]byte, error) {
	name, _ := c.word(a[0], 32)
	h := hashOf(name)
	if h == nil {
		return nil, nil, errForged
	}
	b, err := c.views(a[1 : 1+n]...)
	return h, b, err
}

// hashOp(name, data).
func hashOp(c *call, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(c, a, 1)
	if err != nil {
		return 0, err
	}
	return c.sum(h(), b[0])
}

// hmacOp(name, key, data).
func hmacOp(c *call, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(c, a, 2)
	if err != nil {
		return 0, err
	}
	mac, err := c.mac(h, b[0])
	if err != nil {
		return 0, err
	}
	return c.sum(mac, b[1])
}

// pbkdf2Op(hash, password, salt, iterations, length).
func pbkdf2Op(c *call, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(c, a, 2)
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
	out, err := c.pbkdf2(h, b[0], b[1], int(iterations), int(length))
	if err != nil {
		return 0, err
	}
	return c.bytes(out)
}

// hkdfOp(hash, key, salt, info, length).
func hkdfOp(c *call, a []quickjs.Value) (quickjs.Value, error) {
	h, b, err := hashArgs(c, a, 3)
	if err != nil {
		return 0, err
	}
	length, ok := a[4].Int()
	if !ok || length < 0 {
		return 0, errForged
	}
	if int(length) > 255*h().Size() {
		return 0, &opError{"RangeError", "Invalid key length"}
	}
	out, err := c.hkdf(h, b[0], b[1], b[2], int(length))
	if err != nil {
		return 0, err
	}
	return c.bytes(out)
}
