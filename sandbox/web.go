package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	crand "crypto/rand"

	"golang.org/x/text/collate"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// platform are the operations behind the web platform's APIs: computation, which every guest may have. Each checks what
// it is given and bounds its own work, since a guest is not interrupted while the host computes.
var platform = joined(webOps, cryptoOps, streamOps, intlOps)

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
	"host.unicode":   hostUnicode,
	"stack.frames":   stackFrames,
	"value.iterator": iteratorPart,
	"value.kind":     valueKind,
	"value.promise":  promiseState,
	"value.proxy":    proxyPart,
}

// web is what the operations keep of one run.
type web struct {
	origin time.Duration // of performance.now, since the Unix epoch
	stream *rand.ChaCha8 // of a seeded run's random bytes

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

// text makes a JavaScript string of any text.
func text(in *quickjs.Instance, s string) (quickjs.Value, error) {
	if strings.IndexByte(s, 0) < 0 {
		return in.String(s)
	}
	return answerJSON(in, s)
}

func answerJSON(in *quickjs.Instance, v any) (quickjs.Value, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("answer a host call: %w", err)
	}
	return in.ParseJSON(b)
}

// buffer copies an argument out of the guest.
func buffer(in *quickjs.Instance, v quickjs.Value) ([]byte, error) {
	b, ok, err := in.Buffer(v, maxBytes)
	if err == nil && !ok {
		err = errForged
	}
	return b, err
}

// randomBytes(n) gives n bytes: of the seed in a seeded run, else of the system's generator.
func randomBytes(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	n, ok := a[0].Int()
	if !ok || n < 0 || n > 65536 {
		return 0, errForged
	}
	b := make([]byte, n)
	if _, err := r.random().Read(b); err != nil {
		return 0, err
	}
	return in.Bytes(b)
}

// entropy is a source of random bytes.
type entropy interface{ Read([]byte) (int, error) }

// random is where all of a guest's cryptographic randomness comes from. Drawing from it makes a run impure.
func (r *run) random() entropy {
	r.impure = true
	if !r.seeded {
		return entropyOf{r, crand.Reader}
	}
	if r.web.stream == nil {
		var key [32]byte
		for i := range 4 {
			binary.LittleEndian.PutUint64(key[8*i:], mix(uint64(r.result.Seed)+uint64(i)+1))
		}
		r.web.stream = rand.NewChaCha8(key)
	}
	return r.web.stream
}

// timeOrigin() is when the run began, in milliseconds since the Unix epoch.
func timeOrigin(r *run, in *quickjs.Instance, _ []quickjs.Value) (quickjs.Value, error) {
	r.impure = true
	return answerJSON(in, float64(r.web.origin)/float64(time.Millisecond))
}
