package execution

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Sources are the part of a [Request] that is the same in every call of one version of a saved function.
type Sources struct {
	Code, Language, Entry string
	Files                 map[string]File
}

// Sources returns the sources of r. They share its files.
func (r Request) Sources() Sources { return Sources{r.Code, r.Language, r.Entry, r.Files} }

// WithSources returns r with other sources.
func (r Request) WithSources(s Sources) Request {
	r.Code, r.Language, r.Entry, r.Files = s.Code, s.Language, s.Entry, s.Files
	return r
}

// Sum returns the SHA-256 of the sources in hexadecimal digits.
func (s Sources) Sum() string {
	h := sha256.New()
	put := func(b []byte) {
		fmt.Fprintf(h, "%d:", len(b))
		for part := range slices.Chunk(b, atOnce) {
			h.Write(part)
		}
	}
	for _, text := range []string{s.Code, s.Language, s.Entry} {
		put([]byte(text))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		put([]byte(name))
		put(s.Files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// atOnce is how many bytes are hashed at once: the hash is written in assembly, which the garbage collector cannot
// interrupt, and it spends a processor on waiting.
const atOnce = 64 << 10

// Bytes returns the size of the sources.
func (s Sources) Bytes() int {
	n := len(s.Code)
	for name, content := range s.Files {
		n += len(name) + len(content)
	}
	return n
}

// longSources is the size in bytes above which hashing the JSON of sources takes too long.
const longSources = 1 << 20

// Condensed returns what a hash of r covers: r itself or, if its sources are long, r without them and their hash. sum
// is their hash if it is known, and empty otherwise.
func (r Request) Condensed(sum string) (short Request, hashed string) {
	s := r.Sources()
	switch {
	case s.Bytes() <= longSources:
		return r, ""
	case sum == "":
		sum = s.Sum()
	}
	return r.WithSources(Sources{}), sum
}

// Encode returns the JSON of r, in a tenth of the time that encoding/json takes for long sources. It escapes nothing
// for HTML, and writes a file in base64 where text would be longer.
func (r Request) Encode() ([]byte, error) {
	return EncodeAround(r, func(r Request) any { return r })
}

// Encode returns the JSON of c as [Request.Encode] does.
func (c FunctionContent) Encode() ([]byte, error) {
	return EncodeAround(c.Request, func(r Request) any {
		c.Request = r
		return c
	})
}

// EncodeAround returns the JSON of a value that contains or embeds r, as [Request.Encode] does. whole returns the value
// with another request in place of r.
func EncodeAround(r Request, whole func(Request) any) ([]byte, error) {
	long := r.Sources().Bytes() >= longText
	short, mark := r, ""
	if long {
		mark = rand.Text() // nothing else in the value can be the same
		short.Code, short.Files = mark, nil
	}
	b, err := json.Marshal(whole(short), jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false))
	if err != nil || !long {
		return b, err
	}
	const code = `"code":`
	head, rest, ok := bytes.Cut(b, []byte(code+`"`+mark+`"`))
	if !ok {
		return nil, errors.New("the value does not contain the code of its request")
	}
	r.Input = nil // it is in the rest
	return appendData(append(slices.Clone(head), code...), rest, r), nil
}

// storedMagic begins what [Request.Stored] returns for long sources. No JSON text begins with it.
const storedMagic = "ALS1"

// longInput is the size in bytes from which a store holds an input as it is: each scan of a megabyte of small values
// takes some milliseconds.
const longInput = 64 << 10

// Stored is the form in which a store holds a request or a content, in parts that follow one another. The parts share
// memory with the request. A short request is the JSON of [Request.Encode]. Long sources and a long input follow it
// byte by byte, because each quoting of 16 MiB takes 10 ms:
//
//	4 bytes  "ALS1"
//	4 bytes  the length of the head, big-endian
//	         the head: the JSON of storedHead, with the value without what follows
//	         the code, the files in the order of their names, and the input
type Stored [][]byte

// storedHead describes the sources that follow it, and the input, if that follows, too.
type storedHead[T any] struct {
	Value T            `json:"value"`
	Code  int          `json:"code"`
	Files []storedFile `json:"files,omitempty"`
	Input int          `json:"input,omitempty"`
}

// storedFile is a file that follows a storedHead. Text reports that it is UTF-8.
type storedFile struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
	Text  bool   `json:"text,omitempty"`
}

// Len returns the size in bytes.
func (s Stored) Len() (n int) {
	for _, part := range s {
		n += len(part)
	}
	return n
}

// Bytes returns the parts as one.
func (s Stored) Bytes() []byte {
	if len(s) == 1 {
		return s[0]
	}
	return bytes.Join(s, nil)
}

// Stored returns what [DecodeStored] reads. What that returns is stored in the same bytes again.
func (r Request) Stored() (Stored, error) {
	if err := r.checkInput(); err != nil {
		return nil, err
	}
	if !r.isLong() {
		b, err := r.Encode()
		return Stored{b}, err
	}
	return stored(r, r.head())
}

// Stored returns what [DecodeContent] reads.
func (c FunctionContent) Stored() (Stored, error) {
	parts, _, err := c.stored()
	return parts, err
}

// stored returns what Stored returns, and the input that is one of its parts, if there is one.
func (c FunctionContent) stored() (parts Stored, input []byte, err error) {
	if err := c.Request.checkInput(); err != nil {
		return nil, nil, err
	}
	r := c.Request
	if !r.isLong() {
		b, err := c.Encode()
		return Stored{b}, nil, err
	}
	c.Request = r.head()
	parts, err = stored(r, c)
	return parts, r.apart(), err
}

// Named returns what [DecodeNamed] reads, and the name of it: a hash that verifies it. For long sources that is made
// from c.Sum, if that is known, because hashing 16 MiB takes 10 ms.
func (c FunctionContent) Named() (name string, parts Stored, err error) {
	parts, input, err := c.stored()
	if err != nil {
		return "", nil, err
	}
	if c.Sum == "" || len(parts) == 1 {
		return hashOf(parts...), parts, nil
	}
	return nameOf(parts[0], c.Sum, input), parts, nil
}

// namedBySum begins a name that is made from the hash of sources.
const namedBySum = "sources-"

// nameOf returns the name of a stored content with this head.
func nameOf(head []byte, sum string, input []byte) string {
	return namedBySum + hashOf([]byte(hashOf(head)), []byte(sum), []byte(hashOf(input)))
}

var errOther = errors.New("the content differs from what was saved")

// DecodeNamed decodes a content that has a name of [FunctionContent.Named]. The error says so if it is another content.
func DecodeNamed(name string, b []byte) (c FunctionContent, err error) {
	if !strings.HasPrefix(name, namedBySum) {
		if hashOf(b) != name {
			return c, errOther
		}
		return DecodeContent(b)
	}
	if c, err = DecodeContent(b); err != nil || !isStored(b) {
		return c, cmp.Or(err, errOther)
	}
	head := b[:len(storedMagic)+4+int(binary.BigEndian.Uint32(b[len(storedMagic):]))]
	if c.Sum = c.Request.Sources().Sum(); nameOf(head, c.Sum, c.Request.apart()) != name {
		return c, errOther
	}
	return c, nil
}

func hashOf(parts ...[]byte) string {
	h := sha256.New()
	for _, part := range parts {
		for some := range slices.Chunk(part, atOnce) {
			h.Write(some)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkInput compacts a long input that may not be valid, or returns an error.
func (r *Request) checkInput() error {
	if len(r.Input) < longInput || r.inputIsValid() {
		return nil
	}
	input, err := json.Marshal(r.Input, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false))
	r.SetInput(input)
	return err
}

// isLong reports whether a store holds parts of r as they are.
func (r Request) isLong() bool { return r.Sources().Bytes() >= longSources || r.hasLongInput() }

func (r Request) hasLongInput() bool { return len(r.Input) >= longInput && r.inputIsValid() }

// apart returns the input if a store holds it behind the head of a stored value.
func (r Request) apart() []byte {
	if r.hasLongInput() {
		return r.Input
	}
	return nil
}

// head returns r without what follows the head of a stored value.
func (r Request) head() Request {
	if r.hasLongInput() {
		r.Input = nil
	}
	r.Code, r.Files = "", nil
	return r
}

// stored returns a value with the long parts of r.
func stored[T any](r Request, value T) (Stored, error) {
	h := storedHead[T]{Value: value, Code: len(r.Code)}
	parts := Stored{nil, []byte(r.Code)}
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		f := r.Files[name]
		h.Files = append(h.Files, storedFile{name, len(f), r.isText(f) || validUTF8(f)})
		parts = append(parts, f)
	}
	if r.hasLongInput() {
		h.Input = len(r.Input)
		parts = append(parts, r.Input)
	}
	head, err := json.Marshal(h, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false))
	if err != nil {
		return nil, err
	}
	parts[0] = append(binary.BigEndian.AppendUint32([]byte(storedMagic), uint32(len(head))), head...)
	return parts, nil
}

// errCut is the error of a stored value that is not whole.
var errCut = errors.New("the sources or the input are not as long as they were stored")

// fromStored decodes what stored returned. The files and the input, which r has if it is long, share memory with b.
func fromStored[T any](b []byte) (value T, r Request, err error) {
	b = b[len(storedMagic):]
	if len(b) < 4 || uint64(len(b)-4) < uint64(binary.BigEndian.Uint32(b)) {
		return value, r, errCut
	}
	n := binary.BigEndian.Uint32(b)
	var h storedHead[T]
	if err := stdjson.Unmarshal(b[4:4+n], &h); err != nil {
		return value, r, err
	}
	b = b[4+n:]
	cut := func(n int) (part []byte, ok bool) {
		if n < 0 || n > len(b) {
			return nil, false
		}
		part, b = b[:n:n], b[n:]
		return part, true
	}
	code, ok := cut(h.Code)
	if r.Code = string(code); len(h.Files) > 0 {
		r.Files, r.texts = make(map[string]File, len(h.Files)), map[*byte]int{}
	}
	for _, f := range h.Files {
		part, whole := cut(f.Bytes)
		ok = ok && whole
		if r.Files[f.Name] = part; f.Text && len(part) > 0 {
			r.texts[&part[0]] = len(part)
		}
	}
	input, whole := cut(h.Input)
	if !ok || !whole || len(b) > 0 {
		return value, r, errCut
	}
	if len(input) > 0 {
		r.SetInput(input)
	}
	return h.Value, r, nil
}

func isStored(b []byte) bool { return bytes.HasPrefix(b, []byte(storedMagic)) }

// add sets the long parts of a stored request. A store holds an input only if it is valid.
func (r *Request) add(long Request) {
	r.Code = long.Code
	r.CopyFiles(long)
	r.SetInput(r.Input)
	if len(long.Input) > 0 {
		r.CopyInput(long)
	}
}

// DecodeStored decodes a request that [DecodeRequest] accepted, and checks nothing again. Its files and its input may
// share memory with b.
func DecodeStored(b []byte) (r Request, err error) {
	if isStored(b) {
		short, long, err := fromStored[Request](b)
		short.add(long)
		return short, err
	}
	for _, a := range []Abridged{abridge(b, true, holdsText), {Short: b}} {
		r = Request{}
		err = json.Unmarshal(a.Short, &r, jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false),
			json.WithUnmarshalers(json.UnmarshalFromFunc(
				func(dec *jsontext.Decoder, f *File) error { return (*wireFile)(f).unmarshal(dec, a) })))
		if c, ok := a.code(); ok {
			r.Code = string(c.plain)
		}
		if err == nil || a.cuts == nil {
			break
		}
	}
	r.SetInput(r.Input) // it was valid when it was stored
	return r, err
}

// DecodeContent decodes the content of a function as [DecodeStored] does.
func DecodeContent(b []byte) (c FunctionContent, err error) {
	if isStored(b) {
		c, long, err := fromStored[FunctionContent](b)
		c.Request.add(long)
		return c, err
	}
	const first = `{"request":`
	if len(b) < longText || !bytes.HasPrefix(b, []byte(first)) {
		err := stdjson.Unmarshal(b, &c)
		c.Request.SetInput(c.Request.Input)
		return c, err
	}
	end := valueEnd(b, len(first))
	r, err := DecodeStored(b[len(first):end])
	if err == nil {
		err = stdjson.Unmarshal(append([]byte(first+`{}`), b[end:]...), &c)
		c.Request = r
	}
	return c, err
}

// valueEnd returns the offset behind the object that begins at an offset.
func valueEnd(b []byte, start int) int {
	depth := 0
	for i := start; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}
