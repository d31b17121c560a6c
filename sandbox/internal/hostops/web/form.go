package web

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// formParse answers form.parse(text): it returns the names and values of application/x-www-form-urlencoded text, in
// turn.
func formParse(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	s, ok, err := c.Str(a[0], hostops.MaxBytes)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, hostops.ErrForged
	}
	out := hostops.Buffer{C: c}
	if err := out.Text("["); err != nil {
		return 0, err
	}
	for len(s) > 0 {
		end, err := index(c, hostops.BytesOf(s), []byte("&"))
		if err != nil {
			return 0, err
		}
		pair, rest := s, ""
		if end >= 0 {
			pair, rest = s[:end], s[end+1:]
		}
		if s = rest; pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		for _, part := range []string{name, value} {
			if len(out.B) > 1 {
				if err := out.Text(","); err != nil {
					return 0, err
				}
			}
			if err := formText(c, &out, part); err != nil {
				return 0, err
			}
		}
	}
	if err := out.Text("]"); err != nil {
		return 0, err
	}
	return c.In.ParseJSON(out.B)
}

// formText appends the decoded form of s, a name or a value, as a JSON string. It accepts everything: a percent sign
// that starts no escape stands for itself, and bad UTF-8 is replaced.
func formText(c *hostops.Call, out *hostops.Buffer, s string) error {
	if len(s) < longPart {
		s = strings.ReplaceAll(s, "+", " ")
		if s = percentDecode(s); !utf8.ValidString(s) {
			s = validUTF8(s)
		}
		return out.Quoted(s)
	}
	if err := out.Text(`"`); err != nil {
		return err
	}
	d := decoder{convert: utf8Converter}
	for len(s) > 0 {
		n := min(len(s), hostops.PieceBytes/8)
		for i := n - 1; n < len(s) && i > n-3; i-- {
			if s[i] == '%' {
				n = i // the escape stays in one piece
			}
		}
		if err := c.Work(8 * n); err != nil {
			return err
		}
		piece := percentDecode(strings.ReplaceAll(s[:n], "+", " "))
		s = s[n:]
		text, _ := d.decode([]byte(piece), s == "")
		if err := out.Escaped(text); err != nil {
			return err
		}
	}
	return out.Text(`"`)
}

// validUTF8 replaces what is ill-formed, as the Encoding Standard does.
func validUTF8(s string) string {
	out, _, _ := utf8Converter(nil, nil, []byte(s), true)
	return string(out)
}

func percentDecode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && hostops.HexDigit(s[i+1]) >= 0 && hostops.HexDigit(s[i+2]) >= 0 {
			b = append(b, byte(hostops.HexDigit(s[i+1])<<4|hostops.HexDigit(s[i+2])))
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// formFormat answers form.format(JSON of names and values): it returns application/x-www-form-urlencoded text.
func formFormat(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	t, ok := c.In.Text(a[0])
	if !ok {
		return 0, hostops.ErrForged
	}
	list, err := c.UTF8(t)
	if err != nil {
		return 0, err
	}
	f := formWriter{c: c, list: list, out: hostops.Buffer{C: c}}
	if err := f.write(); err != nil {
		return 0, err
	}
	return c.NewString(hostops.StringOf(f.out.B))
}

// formWriter converts a JSON list of strings to a form as it reads it. Neither the list nor its strings are ever held
// decoded.
type formWriter struct {
	c    *hostops.Call
	list []byte
	at   int
	paid int // how far the work is announced and memory for its output is reserved
	out  hostops.Buffer
}

func (f *formWriter) write() error {
	if !f.skip('[') {
		return hostops.ErrForged
	}
	for n := 0; !f.skip(']'); n++ {
		if n > 0 {
			if !f.skip(',') {
				return hostops.ErrForged
			}
			f.out.B = append(f.out.B, "&="[n%2])
		}
		if !f.skip('"') {
			return hostops.ErrForged
		}
		for !f.skip('"') {
			if err := f.character(); err != nil {
				return err
			}
		}
		if n%2 == 0 && f.at < len(f.list) && f.list[f.at] == ']' {
			return hostops.ErrForged // a name without a value
		}
	}
	if f.at != len(f.list) {
		return hostops.ErrForged
	}
	return nil
}

// skip reads one byte if it is c.
func (f *formWriter) skip(c byte) bool {
	if f.at == len(f.list) || f.list[f.at] != c {
		return false
	}
	f.at++
	return true
}

// character reads one character of a string, and writes it.
func (f *formWriter) character() error {
	if f.at >= f.paid {
		const atOnce = hostops.PieceBytes / 16
		if err := f.c.Work(16 * atOnce); err != nil {
			return err
		}
		// A byte becomes three; what is read last may be an escape of twelve.
		if err := f.out.Room(3 * (atOnce + 16)); err != nil {
			return err
		}
		f.paid = f.at + atOnce
	}
	if f.at == len(f.list) {
		return hostops.ErrForged
	}
	b := f.list[f.at]
	f.at++
	if b != '\\' {
		f.byte(b)
		return nil
	}
	if f.at == len(f.list) {
		return hostops.ErrForged
	}
	b = f.list[f.at]
	f.at++
	if b == 'u' {
		r := f.unit()
		if utf16.IsSurrogate(r) && f.at+1 < len(f.list) && f.list[f.at] == '\\' && f.list[f.at+1] == 'u' {
			before := f.at
			f.at += 2
			if r = utf16.DecodeRune(r, f.unit()); r == utf8.RuneError {
				f.at = before
			}
		}
		if r < 0 {
			return hostops.ErrForged
		}
		for _, b := range utf8.AppendRune(nil, r) { // a lone surrogate becomes U+FFFD
			f.byte(b)
		}
		return nil
	}
	i := strings.IndexByte(`"\/bfnrt`, b)
	if i < 0 {
		return hostops.ErrForged
	}
	f.byte("\"\\/\b\f\n\r\t"[i])
	return nil
}

// unit reads four hexadecimal digits. It returns -1 if there are none.
func (f *formWriter) unit() rune {
	if f.at+4 > len(f.list) {
		return -1
	}
	n, err := strconv.ParseUint(string(f.list[f.at:f.at+4]), 16, 16)
	if err != nil {
		return -1
	}
	f.at += 4
	return rune(n)
}

// byte writes a byte as forms do. There is room for it.
func (f *formWriter) byte(b byte) {
	switch {
	case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte("-_.*", b) >= 0:
		f.out.B = append(f.out.B, b)
	case b == ' ':
		f.out.B = append(f.out.B, '+')
	default:
		f.out.B = append(f.out.B, '%', upperHex[b>>4], upperHex[b&15])
	}
}
