package web

import (
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

// The parser of URLs takes some three hundred nanoseconds a character, and cannot be interrupted. Opaque paths,
// queries and fragments are percent-encoded and nothing else: long ones are kept from it, and encoded here. A stand-in
// is parsed in their place.

// standIn is parsed in place of a long part of a URL. No percent-encode set has a character of it.
const standIn = "airlock.long.part"

// longPart is the length, in bytes, up to which a part is parsed as it is.
const longPart = 1024

// urlParts is a URL whose long parts were taken out.
type urlParts struct {
	short                             string
	path, query, fragment             string // of those that are long
	longPath, longQuery, longFragment bool
	hasQuery                          bool
}

// divide takes the long parts out of text.
func divide(c *hostops.Call, text string) (urlParts, error) {
	if len(text) <= maxAuthority {
		return urlParts{short: text}, nil
	}
	if err := c.Work(len(text)); err != nil {
		return urlParts{}, err
	}
	text, err := withoutBreaks(c, strings.Trim(text, controlsAndSpace))
	if err != nil {
		return urlParts{}, err
	}
	p := urlParts{}
	front, tail := text, ""
	if i := strings.IndexByte(front, '#'); i >= 0 {
		if p.fragment, front = front[i+1:], front[:i]; len(p.fragment) > longPart {
			p.longFragment, tail = true, "#"+standIn
		} else {
			tail = "#" + p.fragment
		}
	}
	if i := strings.IndexByte(front, '?'); i >= 0 {
		p.hasQuery = true
		if p.query, front = front[i+1:], front[:i]; len(p.query) > longPart {
			p.longQuery, tail = true, "?"+standIn+tail
		} else {
			tail = "?" + p.query + tail
		}
	}
	if scheme, path, ok := opaque(front); ok && len(path) > longPart {
		p.path, p.longPath, front = path, true, scheme+standIn
	}
	p.short = front + tail
	return p, nil
}

const controlsAndSpace = "\x00\x01\x02\x03\x04\x05\x06\a\b\t\n" +
	"\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

// withoutBreaks removes tabs and line breaks, as the parser does.
func withoutBreaks(c *hostops.Call, text string) (string, error) {
	if !strings.ContainsAny(text, "\t\n\r") {
		return text, nil
	}
	if err := c.Hold(len(text)); err != nil {
		return "", err
	}
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text), nil
}

// opaque splits text into its scheme, with the colon, and its opaque path, if it has one.
func opaque(text string) (scheme, path string, ok bool) {
	i := strings.IndexByte(text, ':')
	if i <= 0 || i > 64 {
		return "", "", false
	}
	for j := range i {
		c := text[j] | 0x20
		if letter := c >= 'a' && c <= 'z'; !letter && (j == 0 || strings.IndexByte("0123456789+-.", text[j]) < 0) {
			return "", "", false
		}
	}
	if special(strings.ToLower(text[:i])) || strings.HasPrefix(text[i+1:], "/") {
		return "", "", false
	}
	return text[:i+1], text[i+1:], true
}

func special(scheme string) bool {
	switch scheme {
	case "http", "https", "ws", "wss", "ftp", "file":
		return true
	}
	return false
}

// inherit takes from a base the long parts that the parser took from it: stand-ins that p has not put there.
func (p *urlParts) inherit(base urlParts, u *whatwg.Url) {
	if base.longPath && !p.longPath && u.Pathname() == standIn {
		p.path, p.longPath = base.path, true
	}
	if base.longQuery && !p.longQuery && u.Query() == standIn {
		p.query, p.longQuery = base.query, true
	}
}

// set sets the query or the fragment. It returns the value to be parsed.
func (p *urlParts) set(c *hostops.Call, part, value string) (string, error) {
	mark, into, long := "?", &p.query, &p.longQuery
	if part == "hash" {
		mark, into, long = "#", &p.fragment, &p.longFragment
	}
	if *long = len(value) > longPart; !*long {
		return value, nil
	}
	text, err := withoutBreaks(c, strings.TrimPrefix(value, mark))
	*into = text
	return standIn, err
}

// whole puts the long parts of u back into its href, pathname, search and hash.
func (p *urlParts) whole(c *hostops.Call, u *whatwg.Url) (href, path, search, hash string, err error) {
	href, path, search, hash = u.Href(false), u.Pathname(), u.Search(), u.Hash()
	put := func(mark, text string, set *asciiSet, part *string) {
		if err != nil {
			return
		}
		var escaped string
		if escaped, err = escape(c, text, set); err != nil {
			return
		}
		if err = c.Hold(len(href) + 2*len(escaped)); err == nil {
			href = strings.Replace(href, mark+standIn, mark+escaped, 1)
			*part = strings.Replace(*part, standIn, escaped, 1)
		}
	}
	if p.longFragment {
		put("#", p.fragment, &inFragment, &hash)
	}
	if p.longQuery {
		set := &inQuery
		if u.IsSpecialScheme() {
			set = &inSpecialQuery
		}
		put("?", p.query, set, &search)
	}
	if p.longPath {
		put(":", p.path, &inOpaquePath, &path)
	}
	return href, path, search, hash, err
}

// asciiSet has the characters of ASCII that are percent-encoded; all others are.
type asciiSet [utf8.RuneSelf]bool

func percentSet(more string) (s asciiSet) {
	for i := range s {
		s[i] = i < ' ' || i == 0x7f || strings.IndexByte(more, byte(i)) >= 0
	}
	return s
}

// The percent-encode sets of the URL standard.
var (
	inOpaquePath   = percentSet("")
	inFragment     = percentSet(" \"<>`")
	inQuery        = percentSet(" \"#<>")
	inSpecialQuery = percentSet(" \"#<>'")
)

// escape percent-encodes text.
func escape(c *hostops.Call, text string, set *asciiSet) (string, error) {
	out := hostops.Buffer{C: c}
	for len(text) > 0 {
		n := min(len(text), hostops.PieceBytes/4)
		if err := c.Work(4 * n); err != nil {
			return "", err
		}
		if err := out.Room(3 * n); err != nil {
			return "", err
		}
		for i := range n {
			if b := text[i]; b < utf8.RuneSelf && !set[b] {
				out.B = append(out.B, b)
			} else {
				out.B = append(out.B, '%', upperHex[b>>4], upperHex[b&15])
			}
		}
		text = text[n:]
	}
	return hostops.StringOf(out.B), nil
}

const upperHex = "0123456789ABCDEF"
