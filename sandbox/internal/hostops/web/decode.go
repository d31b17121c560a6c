package web

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// textLabel answers text.label(label): it returns the name of an encoding (WHATWG Encoding Standard).
func textLabel(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	label, ok := c.Word(a[0], 256)
	if name := encodingName(label); ok && name != "" {
		return c.NewString(name)
	}
	return 0, hostops.Throwf("RangeError", "The encoding label provided ('%s') is invalid.",
		hostops.CutChars(strings.ReplaceAll(label, "\x00", ""), 40))
}

// newLabels are labels of the standard that the table of x/text lacks.
var newLabels = map[string]string{
	"unicode11utf8": "utf-8", "unicode20utf8": "utf-8", "x-unicode20utf8": "utf-8",
	"unicodefffe": "utf-16be",
	"ucs-2":       "utf-16le", "iso-10646-ucs-2": "utf-16le", "csunicode": "utf-16le", "unicode": "utf-16le",
	"unicodefeff": "utf-16le",
}

func encodingName(label string) string {
	label = strings.Trim(label, "\t\n\f\r ")
	for i := range len(label) {
		if label[i] <= ' ' || label[i] >= utf8.RuneSelf {
			return "" // other definitions of white space and case would accept these
		}
	}
	if name, ok := newLabels[strings.ToLower(label)]; ok {
		return name
	}
	e, err := htmlindex.Get(label)
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(e)
	if err != nil || name == "replacement" {
		return ""
	}
	return name
}

// The flags of textDecode.
const (
	decodeFatal  = 1
	decodeBOM    = 2 // keep a byte order mark
	decodeStream = 4 // more is to come: the answer is [text, state]
)

// textDecode answers text.decode(encoding, flags, state, bytes). The guest keeps the state of a decoder between
// calls. The state is as short as the longest incomplete sequence, and a forged one decodes to no more than other
// bytes would.
func textDecode(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	name, ok := c.Word(a[0], 64)
	flags, ok1 := a[1].Int()
	packed, ok2 := c.Word(a[2], 64)
	d, ok3 := newDecoder(name, packed)
	if !ok || !ok1 || !ok2 || !ok3 {
		return 0, hostops.ErrForged
	}
	src, err := c.View(a[3])
	if err != nil {
		return 0, err
	}
	out := hostops.Buffer{C: c}
	bad, err := d.decodeInto(c, &out, src, flags&decodeStream == 0)
	if err != nil {
		return 0, err
	}
	if bad && flags&decodeFatal != 0 {
		return 0, hostops.Throwf("TypeError", "The encoded data was not valid for encoding %s", name)
	}
	text := hostops.StringOf(out.B)
	if !d.begun && text != "" {
		d.begun = true
		if flags&decodeBOM == 0 && strings.HasPrefix(name, "utf-") {
			text = strings.TrimPrefix(text, "\ufeff")
		}
	}
	if flags&decodeStream == 0 {
		return c.NewString(text)
	}
	answer := hostops.Buffer{C: c}
	for _, part := range []func() error{
		func() error { return answer.Text("[") }, func() error { return answer.Quoted(text) },
		func() error { return answer.Text(`,"` + d.pack() + `"]`) },
	} {
		if err := part(); err != nil {
			return 0, err
		}
	}
	return c.In.ParseJSON(answer.B)
}

// decoder converts bytes to text, piece by piece.
type decoder struct {
	convert converter
	pending []byte // an incomplete sequence
	table   transform.Transformer
	begun   bool // text has come out
	mode    byte // of ISO-2022-JP
}

// converter appends src as UTF-8 to dst as far as its sequences are complete. last reports that nothing follows.
type converter func(d *decoder, dst, src []byte, last bool) (out, rest []byte, bad bool)

func newDecoder(name, packed string) (*decoder, bool) {
	d := &decoder{}
	switch name {
	case "utf-8":
		d.convert = utf8Converter
	case "utf-16le", "utf-16be":
		d.convert = utf16Converter(name == "utf-16be")
	case "iso-2022-jp":
		d.convert, d.table = iso2022JP, japanese.EUCJP.NewDecoder().Transformer
	case "gb18030", "gbk":
		d.convert, d.table = gb18030, simplifiedchinese.GB18030.NewDecoder().Transformer
	case "iso-8859-8-i":
		d.convert = byteConverter(charmap.ISO8859_8)
	default:
		e, err := htmlindex.Get(name)
		if err != nil {
			return nil, false
		}
		if table, ok := e.(*charmap.Charmap); ok {
			d.convert = byteConverter(table)
		} else {
			d.convert, d.table = tableConverter, e.NewDecoder().Transformer
		}
	}
	if packed == "" {
		return d, true
	}
	state, err := hex.DecodeString(packed)
	if err != nil || len(state) < 2 {
		return nil, false
	}
	d.begun, d.mode, d.pending = state[0] != 0, state[1], state[2:]
	return d, true
}

func (d *decoder) pack() string {
	begun := byte(0)
	if d.begun {
		begun = 1
	}
	return hex.EncodeToString(append([]byte{begun, d.mode}, d.pending...))
}

// decode converts the next bytes to text. last reports that nothing follows.
func (d *decoder) decode(src []byte, last bool) (string, bool) {
	if len(d.pending) > 0 {
		src = append(append([]byte(nil), d.pending...), src...)
	}
	out, rest, bad := d.convert(d, make([]byte, 0, len(src)+8), src, last)
	d.pending = append([]byte(nil), rest...)
	return hostops.StringOf(out), bad
}

// decodeInto converts the next bytes piece by piece and appends the text to out.
func (d *decoder) decodeInto(c *hostops.Call, out *hostops.Buffer, src []byte, last bool) (bad bool, err error) {
	for {
		n := min(len(src), hostops.PieceBytes/decodeWork)
		if err := c.Work(n * decodeWork); err != nil {
			return false, err
		}
		text, wrong := d.decode(src[:n], last && n == len(src))
		bad = bad || wrong
		if err := out.Text(text); err != nil {
			return false, err
		}
		if src = src[n:]; len(src) == 0 {
			return bad, nil
		}
	}
}

// decodeWork is the work of decoding a byte: of the slowest encodings.
const decodeWork = 16

// utf8Converter replaces each maximal subpart of an ill-formed sequence by U+FFFD, as the standard does.
func utf8Converter(_ *decoder, dst, src []byte, last bool) (out, rest []byte, bad bool) {
	for len(src) > 0 {
		if r, n := utf8.DecodeRune(src); r != utf8.RuneError || n > 1 {
			dst, src = append(dst, src[:n]...), src[n:]
			continue
		}
		n, complete := subpart(src)
		if !complete && n == len(src) && !last {
			return dst, src, bad
		}
		dst, src, bad = append(dst, "\ufffd"...), src[n:], true
	}
	return dst, nil, bad
}

// subpart returns the length of the longest start of src that could begin a sequence, at least 1. ruledOut reports
// that what follows it, or its first byte alone, rules a sequence out.
func subpart(src []byte) (n int, ruledOut bool) {
	lower, upper, need := byte(0x80), byte(0xbf), 0
	switch c := src[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
		if c == 0xe0 {
			lower = 0xa0
		} else if c == 0xed {
			upper = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		need = 3
		if c == 0xf0 {
			lower = 0x90
		} else if c == 0xf4 {
			upper = 0x8f
		}
	default:
		return 1, true
	}
	for n = 1; n <= need; n++ {
		if n == len(src) {
			return n, false
		}
		if src[n] < lower || src[n] > upper {
			return n, true
		}
		lower, upper = 0x80, 0xbf
	}
	return n, true
}

func utf16Converter(bigEndian bool) converter {
	unit := func(b []byte) rune {
		if bigEndian {
			return rune(b[0])<<8 | rune(b[1])
		}
		return rune(b[1])<<8 | rune(b[0])
	}
	return func(_ *decoder, dst, src []byte, last bool) (out, rest []byte, bad bool) {
		for len(src) >= 2 {
			c, n := unit(src), 2
			if utf16.IsSurrogate(c) {
				high := c < 0xdc00
				if high && len(src) < 4 && !last {
					return dst, src, bad
				}
				c = utf8.RuneError
				if high && len(src) >= 4 {
					c = utf16.DecodeRune(unit(src), unit(src[2:]))
				}
				if c == utf8.RuneError {
					bad = true
				} else {
					n = 4
				}
			}
			dst, src = utf8.AppendRune(dst, c), src[n:]
		}
		if len(src) > 0 && last {
			return append(dst, "\ufffd"...), nil, true
		}
		return dst, src, bad
	}
}

// byteConverter decodes single-byte encodings. Bytes below 0xa0 that the tables of x/text lack are control
// characters.
func byteConverter(table *charmap.Charmap) converter {
	return func(_ *decoder, dst, src []byte, _ bool) (out, rest []byte, bad bool) {
		for _, c := range src {
			r := table.DecodeByte(c)
			if r == utf8.RuneError && c < 0xa0 {
				r = rune(c)
			}
			bad = bad || r == utf8.RuneError
			dst = utf8.AppendRune(dst, r)
		}
		return dst, nil, bad
	}
}

// tableConverter decodes by the tables of x/text, which follow the standard.
func tableConverter(d *decoder, dst, src []byte, last bool) (out, rest []byte, bad bool) {
	for {
		d.table.Reset()
		begin := len(dst)
		dst = slices.Grow(dst, len(src)*3+16)
		nDst, nSrc, err := d.table.Transform(dst[begin:cap(dst)], src, last)
		dst, src = dst[:begin+nDst], src[nSrc:]
		bad = bad || bytes.Contains(dst[begin:], []byte("\ufffd"))
		if err != transform.ErrShortDst { // Transform's errors are these very values
			return dst, src, bad
		}
	}
}

// tableRune decodes one sequence by the table of d. It returns U+FFFD if the table has no such sequence.
func (d *decoder) tableRune(sequence []byte) rune {
	var out [16]byte
	d.table.Reset()
	n, _, err := d.table.Transform(out[:], sequence, true)
	if err != nil {
		return utf8.RuneError
	}
	r, _ := utf8.DecodeRune(out[:n])
	return r
}
