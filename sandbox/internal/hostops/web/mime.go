package web

import (
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// mimeParse answers mime.parse(text): it returns a media type, the last of several, as {essence, text, charset,
// boundary}, or null if there is none.
func mimeParse(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	s, ok := c.Word(a[0], hostops.MaxWord)
	if !ok {
		return quickjs.Null, nil
	}
	if err := c.Work(32 * len(s)); err != nil {
		return 0, err
	}
	var found *mediaType
	for _, value := range splitList(s) {
		m, ok := parseMediaType(value)
		if !ok || m.essence == "*/*" {
			continue
		}
		if found != nil && found.essence == m.essence {
			if _, given := m.get("charset"); !given {
				if charset, had := found.get("charset"); had {
					m.params = append(m.params, [2]string{"charset", charset})
				}
			}
		}
		found = &m
	}
	if found == nil {
		return quickjs.Null, nil
	}
	charset, _ := found.get("charset")
	boundary, _ := found.get("boundary")
	return c.NewJSON(map[string]string{
		"essence": found.essence, "text": found.String(), "charset": charset, "boundary": boundary,
	})
}

// mediaType is a MIME type as in the MIME Sniffing Standard: parameters keep their order, and values may be anything
// that can be quoted.
type mediaType struct {
	essence string
	params  [][2]string
}

func (m *mediaType) get(name string) (string, bool) {
	for _, p := range m.params {
		if p[0] == name {
			return p[1], true
		}
	}
	return "", false
}

// String returns the serialized form.
func (m *mediaType) String() string {
	var b strings.Builder
	b.WriteString(m.essence)
	for _, p := range m.params {
		b.WriteString(";" + p[0] + "=")
		if isToken(p[1]) {
			b.WriteString(p[1])
		} else {
			b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p[1]) + `"`)
		}
	}
	return b.String()
}

const (
	httpSpace = "\t\n\r "
	// maxParams bounds the parameters of a type that are kept.
	maxParams = 64
)

func parseMediaType(s string) (mediaType, bool) {
	essence, rest, _ := strings.Cut(strings.Trim(s, httpSpace), ";")
	kind, sub, ok := strings.Cut(strings.TrimRight(essence, httpSpace), "/")
	if !ok || !isToken(kind) || !isToken(sub) {
		return mediaType{}, false
	}
	m := mediaType{essence: strings.ToLower(kind + "/" + sub)}
	for rest != "" && len(m.params) < maxParams {
		rest = strings.TrimLeft(rest, httpSpace)
		end := strings.IndexAny(rest, ";=")
		if end < 0 {
			break
		}
		name, separator := strings.ToLower(rest[:end]), rest[end]
		if rest = rest[end+1:]; separator == ';' {
			continue
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			value, rest = quotedString(rest)
			_, rest, _ = strings.Cut(rest, ";")
		} else {
			value, rest, _ = strings.Cut(rest, ";")
			if value = strings.TrimRight(value, httpSpace); value == "" {
				continue
			}
		}
		if _, twice := m.get(name); isToken(name) && !twice && isQuotable(value) {
			m.params = append(m.params, [2]string{name, value})
		}
	}
	return m, true
}

// quotedString reads a string that starts with a quote. It returns the string and what follows it.
func quotedString(s string) (value, rest string) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}

// splitList splits the combined value of a header at the commas outside quoted strings.
func splitList(s string) []string {
	var list []string
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		case s[i] == ',' && !quoted:
			list = append(list, s[start:i])
			start = i + 1
		}
	}
	return append(list, s[start:])
}

func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

func isQuotable(s string) bool {
	for _, c := range s {
		if c != '\t' && (c < ' ' || c == 0x7f || c > 0xff) {
			return false
		}
	}
	return true
}
