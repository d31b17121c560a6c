package execution

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// longText is the size from which on a JSON string is decoded or encoded here, several times as fast as jsontext does.
const longText = 4 << 10

// standIn replaces a long string in an abridged text. It is valid base64, and longer than a value that an error quotes.
var standIn = strings.Repeat("x", 68)

// An Abridged is a JSON text in which short stand-ins replace long strings.
type Abridged struct {
	Short []byte
	cuts  []cut
	owned bool // files may be parts of the whole text
}

// A cut is a string that an Abridged replaced.
type cut struct {
	at      int    // the end of its stand-in in Short
	depth   int    // of the object or array that holds it
	removed int    // how many bytes the texts up to there lost
	plain   []byte // its text, if it is valid
	shared  bool   // plain is a part of the whole text
}

// Abridge replaces the long strings of a JSON text. Names stay. It does not check what it replaces.
func Abridge(b []byte) Abridged { return abridge(b, false, anyText) }

func anyText(string, int) bool { return true }

// abridge replaces the long strings for which which returns true, by the member of the outermost object and the depth.
// If decode is set, it decodes them, and keeps what is not valid.
func abridge(b []byte, decode bool, which func(member string, depth int) bool) Abridged {
	if len(b) < longText {
		return Abridged{Short: b}
	}
	a := Abridged{}
	depth, kept, member := 0, 0, ""
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := stringEnd(b, i)
			switch name := namesMember(b, end); {
			case name && depth == 1:
				member = plainName(b[i:end])
			case !name && end-i >= longText && which(member, depth):
				source := b[i+1 : end-1]
				if end == len(b) { // it may have no end
					source = b[i+1 : end-16]
				}
				c, n := cut{depth: depth}, len(source)
				if decode {
					n = c.decode(source)
				}
				a.Short = append(append(append(a.Short, b[kept:i]...), '"'), standIn...)
				c.at, kept = len(a.Short)+1, end-1
				if n < len(source) || end == len(b) {
					for n = min(n, len(source)-1); n > 0 && !utf8.RuneStart(source[n]); n-- {
					}
					c.at, kept = len(a.Short), i+1+n // the rest says what is wrong
				}
				c.removed = kept - len(a.Short)
				a.cuts = append(a.cuts, c)
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	if a.cuts == nil {
		return Abridged{Short: b}
	}
	a.Short = append(a.Short, b[kept:]...)
	return a
}

// Original returns the offset in the whole text of an offset in the short one that is not inside a stand-in.
func (a Abridged) Original(offset int) int {
	removed := 0
	for _, c := range a.cuts {
		if c.at > offset {
			break
		}
		removed = c.removed
	}
	return offset + removed
}

// within returns the cut whose stand-in is in a part of the short text that has at most one.
func (a Abridged) within(from, to int64) (c cut, ok bool) {
	i, _ := slices.BinarySearchFunc(a.cuts, from+1, func(c cut, offset int64) int {
		return cmp.Compare(int64(c.at), offset)
	})
	if i == len(a.cuts) || int64(a.cuts[i].at) > to {
		return cut{}, false
	}
	return a.cuts[i], true
}

// code returns the cut at the depth of the member code.
func (a Abridged) code() (c cut, ok bool) {
	i := slices.IndexFunc(a.cuts, func(c cut) bool { return c.depth == 1 })
	if i < 0 {
		return cut{}, false
	}
	return a.cuts[i], true
}

// unmarshalers returns the decoder of files, which knows the strings that a has cut. It adds to texts, which may be
// nil, the length of those files that were such strings, by their first bytes.
func (a Abridged) unmarshalers(texts map[*byte]int) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, f *wireFile) error {
		isText := dec.PeekKind() == '"'
		err := f.unmarshal(dec, a)
		if err == nil && isText && texts != nil && len(*f) >= longText {
			texts[&(*f)[0]] = len(*f)
		}
		return err
	})
}

// decode decodes a string and returns how much of it is valid.
func (c *cut) decode(source []byte) (n int) {
	if c.shared = bytes.IndexByte(source, '\\') < 0 && !hasControl(source); c.shared { // it has no quotation marks
		c.plain = source[:len(source):len(source)]
		return len(source)
	}
	c.plain, n = appendPlain(make([]byte, 0, len(source)), source)
	return n
}

// hasControl reports whether b has a control character, in half the time of plainRun.
func hasControl(b []byte) bool {
	const tops, spaces = 0x8080808080808080, 0x2020202020202020
	control := func(at int) uint64 {
		w := binary.LittleEndian.Uint64(b[at:])
		return (w - spaces) &^ w
	}
	for ; len(b) >= 32; b = b[32:] {
		if (control(0)|control(8)|control(16)|control(24))&tops != 0 {
			return true
		}
	}
	return slices.ContainsFunc(b, func(c byte) bool { return c < 0x20 })
}

// sharedBytes returns how many bytes of the whole text are part of texts.
func (a Abridged) sharedBytes() (n int) {
	for _, c := range a.cuts {
		if c.shared {
			n += len(c.plain)
		}
	}
	return n
}

// special reports whether one of eight bytes is a backslash, a quotation mark or a control character.
func special(w uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	slash, quote := w^ones*'\\', w^ones*'"'
	return ((w-ones*0x20)&^w|(slash-ones)&^slash|(quote-ones)&^quote)&tops != 0
}

// plainRun returns how many bytes at the beginning of b need no escape.
func plainRun(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if special(binary.LittleEndian.Uint64(b[i:])) {
			break
		}
	}
	for i < len(b) && b[i] >= 0x20 && b[i] != '\\' && b[i] != '"' {
		i++
	}
	return i
}

// appendPlain appends the text of what the quotation marks of a string hold, up to the first escape or control
// character that is not valid. n is how much of b that is.
func appendPlain(dst, b []byte) (out []byte, n int) {
	for n < len(b) {
		if c := b[n]; c == '\\' {
			r, size := unescape(b[n:])
			if size == 0 {
				return dst, n
			}
			dst, n = utf8.AppendRune(dst, r), n+size
			continue
		}
		run := plainRun(b[n:])
		if run == 0 {
			return dst, n
		}
		dst, n = append(dst, b[n:n+run]...), n+run
	}
	return dst, n
}

// unescape returns the character of the escape at the beginning of b and its size, which is 0 if it is none.
func unescape(b []byte) (r rune, size int) {
	if len(b) < 2 || b[0] != '\\' {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r = hexadecimal(b)
		switch {
		case r < 0 || r >= 0xDC00 && r < 0xE000:
			return 0, 0
		case r < 0xD800 || r >= 0xE000:
			return r, 6
		}
		if low := hexadecimal(b[6:]); low >= 0xDC00 && low < 0xE000 {
			return 0x10000 + (r-0xD800)<<10 + low - 0xDC00, 12
		}
	}
	return 0, 0
}

// hexadecimal returns the code unit of \uXXXX at the beginning of b, or -1.
func hexadecimal(b []byte) (r rune) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// appendQuoted appends a text in UTF-8 as a JSON string, unless that takes more than most bytes.
func appendQuoted(dst, text []byte, most int) (out []byte, ok bool) {
	from := len(dst)
	dst = append(dst, '"')
	for len(text) > 0 {
		n := plainRun(text)
		dst, text = append(dst, text[:n]...), text[n:]
		if len(dst)-from >= most {
			return dst[:from], false
		}
		for len(text) > 0 && (text[0] < 0x20 || text[0] == '\\' || text[0] == '"') && len(dst)-from < most {
			dst, text = appendEscape(dst, text[0]), text[1:]
		}
	}
	return append(dst, '"'), true
}

func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// appendFile appends a file as JSON, as whichever of its two forms is allowed and not longer. isText says that it is
// known to be UTF-8.
func appendFile(dst []byte, f File, isText bool) []byte {
	coded := base64.StdEncoding.EncodedLen(len(f))
	if isText || validUTF8(f) {
		if out, ok := appendQuoted(dst, f, max(coded, 64)); ok {
			return out
		}
	}
	dst = append(dst, `{"base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, f)
	return append(dst, `"}`...)
}

// appendData appends the code, the files and the input of a request, and the rest of its JSON, which follows.
func appendData(dst, rest []byte, r Request) []byte {
	size := len(rest) + r.Sources().Bytes() + len(r.Input)
	dst = slices.Grow(dst, size+size/8)
	dst = AppendText(dst, r.Code)
	if len(r.Files) > 0 {
		dst = append(dst, `,"files":{`...)
		for i, name := range slices.Sorted(maps.Keys(r.Files)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendText(dst, name)
			dst = appendFile(append(dst, ':'), r.Files[name], r.isText(r.Files[name]))
		}
		dst = append(dst, '}')
	}
	if len(r.Input) > 0 {
		dst = append(append(dst, `,"input":`...), r.Input...)
	}
	return append(dst, rest...)
}

// AppendText appends a text as a JSON string, with U+FFFD in place of bytes that are not UTF-8. It escapes nothing for
// HTML or JavaScript.
func AppendText(dst []byte, text string) []byte {
	valid := []byte(text)
	if !validUTF8(valid) {
		valid = bytes.ToValidUTF8(valid, []byte("\uFFFD"))
	}
	dst, _ = appendQuoted(dst, valid, math.MaxInt)
	return dst
}

// The states of a decoder of UTF-8: each is the shift at which the table holds the state after it.
const (
	utf8Start, utf8Wrong             = 0, 6
	utf8One, utf8Two, utf8Tri        = 12, 18, 24 // so many continuation bytes are missing
	utf8E0, utf8ED                   = 30, 36     // the second byte of three is restricted
	utf8F0, utf8F4                   = 42, 48     // the second byte of four is restricted
	utf8Mask                  uint64 = 63
)

// utf8Steps holds for every byte the state that follows each state. To step is a load and a shift, so the time does
// not depend on the text: random text costs utf8.Valid three times as much.
var utf8Steps = func() (steps [256]uint64) {
	allow := func(low, high byte, from, to uint64) {
		for c := int(low); c <= int(high); c++ {
			steps[c] = steps[c]&^(utf8Mask<<from) | to<<from
		}
	}
	for from := uint64(utf8Start); from <= utf8F4; from += 6 {
		allow(0, 255, from, utf8Wrong)
	}
	allow(0x00, 0x7f, utf8Start, utf8Start)
	allow(0xc2, 0xdf, utf8Start, utf8One)
	allow(0xe0, 0xe0, utf8Start, utf8E0)
	allow(0xe1, 0xef, utf8Start, utf8Two)
	allow(0xed, 0xed, utf8Start, utf8ED)
	allow(0xf0, 0xf0, utf8Start, utf8F0)
	allow(0xf1, 0xf3, utf8Start, utf8Tri)
	allow(0xf4, 0xf4, utf8Start, utf8F4)
	allow(0x80, 0xbf, utf8One, utf8Start)
	allow(0x80, 0xbf, utf8Two, utf8One)
	allow(0x80, 0xbf, utf8Tri, utf8Two)
	allow(0xa0, 0xbf, utf8E0, utf8One)
	allow(0x80, 0x9f, utf8ED, utf8One)
	allow(0x90, 0xbf, utf8F0, utf8Two)
	allow(0x80, 0x8f, utf8F4, utf8Two)
	return steps
}()

// validUTF8 reports whether b is valid UTF-8.
func validUTF8(b []byte) bool {
	const tops = 0x8080808080808080
	state := uint64(utf8Start)
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		if state == utf8Start && w&tops == 0 {
			for len(b) >= 40 && (binary.LittleEndian.Uint64(b[8:])|binary.LittleEndian.Uint64(b[16:])|
				binary.LittleEndian.Uint64(b[24:])|binary.LittleEndian.Uint64(b[32:]))&tops == 0 {
				b = b[32:]
			}
			continue
		}
		state = utf8Steps[byte(w)] >> (state & utf8Mask)
		state = utf8Steps[byte(w>>8)] >> (state & utf8Mask)
		state = utf8Steps[byte(w>>16)] >> (state & utf8Mask)
		state = utf8Steps[byte(w>>24)] >> (state & utf8Mask)
		state = utf8Steps[byte(w>>32)] >> (state & utf8Mask)
		state = utf8Steps[byte(w>>40)] >> (state & utf8Mask)
		state = utf8Steps[byte(w>>48)] >> (state & utf8Mask)
		state = utf8Steps[byte(w>>56)] >> (state & utf8Mask) & utf8Mask
		if state == utf8Wrong {
			return false
		}
	}
	for _, c := range b {
		state = utf8Steps[c] >> state & utf8Mask
	}
	return state == utf8Start
}
