package web

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// maxURLUnits bounds a URL's length in UTF-16 units, as browsers do.
const maxURLUnits = 2 << 20

// urls parses as the WHATWG URL Standard says. The path set of the library lacks a character that the standard has
// added.
var urls = whatwg.NewParser(
	whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')),
	whatwg.WithPreParseHostFunc(disguiseHost), whatwg.WithPostParseHostFunc(undisguiseHost),
)

// urlParse answers url.parse(input, base or null): it returns the parts of a URL, or null if it cannot be parsed.
func urlParse(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	input, ok, err := c.Str(a[0], maxURLUnits)
	if !ok || err != nil {
		return quickjs.Null, err
	}
	base, hasBase, err := c.Str(a[1], maxURLUnits)
	if err != nil {
		return 0, err
	}
	parts, err := divide(c, input)
	if err != nil {
		return 0, err
	}
	short := parts.short
	if excessive(short) {
		return quickjs.Null, nil
	}
	if err := urlWork(c, short); err != nil {
		return 0, err
	}
	if !hasBase {
		u, err := urls.Parse(short)
		if err != nil {
			return quickjs.Null, nil // the library expects null
		}
		return answerURL(c, u, parts)
	}
	under, err := divide(c, base)
	if err != nil {
		return 0, err
	}
	if excessive(under.short) {
		return quickjs.Null, nil
	}
	if err := urlWork(c, under.short); err != nil {
		return 0, err
	}
	u, err := urls.ParseRef(under.short, short)
	if err != nil {
		return quickjs.Null, nil // as above
	}
	parts.inherit(under, u)
	return answerURL(c, u, parts)
}

// urlWork announces the work of parsing text, which is not excessive.
func urlWork(c *hostops.Call, text string) error {
	return c.Work(128*len(text) + 2048*min(strings.Count(text, "@"), maxUserSigns))
}

// urlSet answers url.set(href, part, value): it returns the parts of a URL after one of them was set, or null if that
// is refused altogether.
func urlSet(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	href, ok, err := c.Str(a[0], maxURLUnits)
	if !ok || err != nil {
		return quickjs.Null, err
	}
	part, ok := c.Word(a[1], 16)
	if !ok {
		return quickjs.Null, nil
	}
	value, ok, err := c.Str(a[2], maxURLUnits)
	if !ok || err != nil {
		return quickjs.Null, err
	}
	parts, err := divide(c, href)
	if err != nil {
		return 0, err
	}
	short := parts.short
	if excessive(short) || excessivePart(part, value) {
		return quickjs.Null, nil
	}
	if part == "search" || part == "hash" {
		if value, err = parts.set(c, part, value); err != nil {
			return 0, err
		}
	}
	if err := urlWork(c, short+value); err != nil {
		return 0, err
	}
	u, err := urls.Parse(short)
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
	return answerURL(c, u, parts)
}

// answerURL returns [href, origin, protocol, username, password, host, hostname, port, pathname, search, hash].
func answerURL(c *hostops.Call, u *whatwg.Url, parts urlParts) (quickjs.Value, error) {
	href, path, search, hash, err := parts.whole(c, u)
	if err != nil {
		return 0, err
	}
	if u.OpaquePath() && strings.HasSuffix(path, " ") {
		// The last space in front of a query or fragment is encoded, so that it is not lost with them.
		fixed := strings.TrimSuffix(path, " ") + "%20"
		href = u.Protocol() + fixed + href[len(u.Protocol())+len(path):]
		path = fixed
	}
	out := hostops.Buffer{C: c}
	if err := out.Text("["); err != nil {
		return 0, err
	}
	answer := [...]string{
		href, origin(u), u.Protocol(), u.Username(), u.Password(), u.Host(), u.Hostname(), u.Port(), path, search, hash,
	}
	for i, s := range answer {
		if i > 0 {
			out.B = append(out.B, ',')
		}
		if err := out.Quoted(s); err != nil {
			return 0, err
		}
	}
	out.B = append(out.B, ']')
	return c.In.ParseJSON(out.B)
}

func origin(u *whatwg.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		path := u.Pathname()
		if excessive(path) {
			return "null"
		}
		if inner, err := urls.Parse(path); err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return origin(inner)
		}
	}
	return "null"
}
