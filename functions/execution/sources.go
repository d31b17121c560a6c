package execution

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

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
		h.Write(b)
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

// DecodeStored decodes the JSON of a request that [DecodeRequest] accepted, and checks nothing again.
func DecodeStored(b []byte) (r Request, err error) {
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
	return r, err
}

// DecodeContent decodes the JSON of the content of a function as [DecodeStored] does.
func DecodeContent(b []byte) (c FunctionContent, err error) {
	const first = `{"request":`
	if len(b) < longText || !bytes.HasPrefix(b, []byte(first)) {
		return c, stdjson.Unmarshal(b, &c)
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
