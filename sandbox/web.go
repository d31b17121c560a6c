package sandbox

import (
	"fmt"
	"maps"
	"time"

	"golang.org/x/text/collate"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// platform are the operations that every guest may call: computation behind the web platform's APIs and Node's modules.
// Each checks what it is given, and announces its work (call.go).
var platform = joined(webOps, cryptoOps, streamOps, intlOps, nodeOps)

func joined(parts ...map[string]syncOp) map[string]syncOp {
	all := make(map[string]syncOp)
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

var webOps = map[string]syncOp{
	"random":      randomBytes,
	"timeOrigin":  timeOrigin,
	"utf8.encode": utf8Encode,
	"text.decode": textDecode,
	"text.label":  textLabel,
	"base64.atob": base64Decode,
	"base64.btoa": base64Encode,
	"url.parse":   urlParse,
	"url.set":     urlSet,
	"form.parse":  formParse,
	"form.format": formFormat,
	"mime.parse":  mimeParse,

	"multipart.parse": multipartParse,

	"exit":           exitOp,
	"garbage":        garbageOp,
	"host.unicode":   hostUnicode,
	"stack.frames":   stackFrames,
	"value.iterator": iteratorPart,
	"value.kind":     valueKind,
	"value.promise":  promiseState,
	"value.proxy":    proxyPart,
}

// web is what the operations keep of one run.
type web struct {
	compressors   handles[*compressor]
	decompressors handles[*openDecompressor]
	collators     map[collatorKey]*collate.Collator
}

// maxBytes bounds the strings and buffers that one operation takes. Guests' memory is smaller than that anyway.
const maxBytes = 256 << 20

// refused makes an exception for the guest: a DOMException where its name is one, else an Error of that name.
func refused(name, format string, args ...any) error {
	return &opError{name, fmt.Sprintf(format, args...)}
}

// errForged answers calls with arguments that nothing of ours makes.
var errForged = &opError{"TypeError", "invalid arguments"}

// garbageOp() says that the guest looks at what was collected.
func garbageOp(c *call, _ []quickjs.Value) (quickjs.Value, error) {
	c.outside.reach()
	return quickjs.Undefined, nil
}

// randomBytes(n) gives n bytes: of the seed in a seeded run, else of the system's generator.
func randomBytes(c *call, a []quickjs.Value) (quickjs.Value, error) {
	n, ok := a[0].Int()
	if !ok || n < 0 || n > 65536 {
		return 0, errForged
	}
	b := make([]byte, n)
	if _, err := c.random().Read(b); err != nil {
		return 0, err
	}
	return c.bytes(b)
}

// timeOrigin() is when the run began, in milliseconds since the Unix epoch.
func timeOrigin(c *call, _ []quickjs.Value) (quickjs.Value, error) {
	return c.json(float64(c.outside.origin()) / float64(time.Millisecond))
}
