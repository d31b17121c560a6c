package sandbox

import (
	"encoding/json"
	"net/url"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// maxURLUnits bounds a URL's length in UTF-16 units, as browsers do.
const maxURLUnits = 2 << 20

// urls parses as the WHATWG URL standard says. Its path set lacks a member that the standard got later.
var urls = whatwg.NewParser(
	whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')),
	whatwg.WithPreParseHostFunc(disguiseHost), whatwg.WithPostParseHostFunc(undisguiseHost),
)

// urlParse(input, base or null) gives a URL's parts; null when it cannot be parsed.
func urlParse(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	input, ok := in.Str(a[0], maxURLUnits)
	if !ok {
		return quickjs.Null, nil
	}
	var u *whatwg.Url
	var err error
	base, hasBase := in.Str(a[1], maxURLUnits)
	if excessive(input) || hasBase && excessive(base) {
		return quickjs.Null, nil
	}
	if hasBase {
		u, err = urls.ParseRef(base, input)
	} else {
		u, err = urls.Parse(input)
	}
	if err != nil {
		return quickjs.Null, nil // null is how the library is told
	}
	return answerURL(in, u)
}

// urlSet(href, part, value) gives the parts of a URL one of which was set; null when that is refused altogether.
func urlSet(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	href, ok := in.Str(a[0], maxURLUnits)
	part, ok1 := in.Str(a[1], 16)
	value, ok2 := in.Str(a[2], maxURLUnits)
	if !ok || !ok1 || !ok2 || excessive(href) || excessivePart(part, value) {
		return quickjs.Null, nil
	}
	u, err := urls.Parse(href)
	if err != nil {
		return quickjs.Null, nil // as above
	}
	switch part {
	case "protocol":
		u.SetProtocol(value)
	case "username":
		u.SetUsername(value)
	case "password":
		u.SetPassword(value)
	case "host":
		u.SetHost(value)
	case "hostname":
		u.SetHostname(value)
	case "port":
		u.SetPort(value)
	case "pathname":
		u.SetPathname(value)
	case "search":
		u.SetSearch(value)
	case "hash":
		u.SetHash(value)
	}
	return answerURL(in, u)
}

// answerURL gives [href, origin, protocol, username, password, host, hostname, port, pathname, search, hash].
func answerURL(in *quickjs.Instance, u *whatwg.Url) (quickjs.Value, error) {
	href, path := u.Href(false), u.Pathname()
	if u.OpaquePath() && strings.HasSuffix(path, " ") {
		// The last space in front of a query or fragment is encoded, lest it be lost with them.
		fixed := strings.TrimSuffix(path, " ") + "%20"
		href = u.Protocol() + fixed + href[len(u.Protocol())+len(path):]
		path = fixed
	}
	return answerJSON(in, [...]string{href, origin(u), u.Protocol(), u.Username(), u.Password(), u.Host(), u.Hostname(), u.Port(), path, u.Search(), u.Hash()})
}

func origin(u *whatwg.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		if inner, err := urls.Parse(u.Pathname()); err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return origin(inner)
		}
	}
	return "null"
}

// formParse(text) gives the names and values of application/x-www-form-urlencoded text, in turn.
func formParse(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	s, ok := in.Str(a[0], maxBytes)
	if !ok {
		return 0, errForged
	}
	list := []string{}
	for pair := range strings.SplitSeq(s, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			list = append(list, formUnescape(name), formUnescape(value))
		}
	}
	return answerJSON(in, list)
}

// formFormat(json of names and values) gives application/x-www-form-urlencoded text.
func formFormat(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	s, ok := in.Str(a[0], maxBytes)
	var list []string
	if !ok || json.Unmarshal([]byte(s), &list) != nil || len(list)%2 != 0 {
		return 0, errForged
	}
	var b strings.Builder
	for i := 0; i < len(list); i += 2 {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(formEscape(list[i]))
		b.WriteByte('=')
		b.WriteString(formEscape(list[i+1]))
	}
	return in.String(b.String())
}

// formEscape differs from url.QueryEscape in two characters.
func formEscape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(s), "~", "%7E"), "%2A", "*")
}

// formUnescape takes everything: a percent sign that starts no escape is itself, and bad UTF-8 is replaced.
func formUnescape(s string) string {
	s = percentDecode(strings.ReplaceAll(s, "+", " "))
	if utf8.ValidString(s) {
		return s
	}
	out, _, _ := utf8Converter(nil, nil, []byte(s), true)
	return string(out)
}

func percentDecode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && hexDigit(s[i+1]) >= 0 && hexDigit(s[i+2]) >= 0 {
			b = append(b, byte(hexDigit(s[i+1])<<4|hexDigit(s[i+2])))
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
