package audit

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// encodedSecret is one form in which a secret may occur in a text.
type encodedSecret struct {
	text string
	// inside reports that the text is part of a base64 run, all of which must be removed.
	inside bool
}

// shortestRun is the least length of base64 that counts as a secret. Shorter runs occur in ordinary text.
const shortestRun = 8

// secretEncodings returns the forms of a secret, longest first: as it is, in URLs, in JSON texts, in JSON texts that
// are strings of others, in hexadecimal, and inside anything that is in base64.
func secretEncodings(secret string) []encodedSecret {
	component := strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")
	// encodeURIComponent
	script := strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(component)
	texts := []string{secret, component, script, url.QueryEscape(secret), url.PathEscape(secret),
		hex.EncodeToString([]byte(secret))}
	for _, quoted := range jsonTexts(secret) {
		texts = append(append(texts, quoted), jsonTexts(quoted)...)
	}
	for _, t := range slices.Clone(texts[1:6]) { // these are also written with digits of the other case
		texts = append(texts, hexCase(t, strings.ToLower), hexCase(t, strings.ToUpper))
	}
	texts = append(texts, strings.ToUpper(hex.EncodeToString([]byte(secret))))
	var all []encodedSecret
	for _, t := range texts {
		all = append(all, encodedSecret{text: t})
	}
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 { // bytes of something else that share the secret's first group of three
			run := alphabet.EncodeToString(append(make([]byte, before), secret...))
			from, to := (8*before+5)/6, (8*(before+len(secret)))/6 // the digits that are the secret's alone
			if to-from >= shortestRun {
				all = append(all, encodedSecret{run[from:to], true})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b encodedSecret) int { return len(b.text) - len(a.text) })
	var once []encodedSecret
	for _, g := range all {
		if !slices.ContainsFunc(once, func(o encodedSecret) bool { return o.text == g.text }) {
			once = append(once, g)
		}
	}
	return once
}

// hexCase applies fn to the digits of %xx.
func hexCase(s string, fn func(string) string) string {
	parts := strings.Split(s, "%")
	for i := 1; i < len(parts); i++ {
		n := min(2, len(parts[i]))
		parts[i] = fn(parts[i][:n]) + parts[i][n:]
	}
	return strings.Join(parts, "%")
}

// jsonTexts returns s in the forms that JSON has between quotes: of JSON.stringify, of Go, and in ASCII alone.
func jsonTexts(s string) []string {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return nil
	}
	text := strings.TrimSuffix(plain.String(), "\n")
	text = text[1 : len(text)-1]
	var ascii, markup strings.Builder
	for _, r := range text {
		switch {
		case r < 0x80:
			ascii.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&ascii, `\u%04x`, unit)
			}
		}
		if strings.ContainsRune("<>&", r) {
			fmt.Fprintf(&markup, `\u%04x`, r)
		} else {
			markup.WriteRune(r)
		}
	}
	script := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(text) // JSON.stringify leaves them
	return []string{text, script, markup.String(), ascii.String(), strings.ReplaceAll(text, "/", `\/`)}
}

// hide returns s without the encoded secret.
func (g encodedSecret) hide(s string) string {
	if !g.inside {
		return strings.ReplaceAll(s, g.text, Redacted)
	}
	var out strings.Builder
	for {
		at := strings.Index(s, g.text)
		if at < 0 {
			out.WriteString(s)
			return out.String()
		}
		from, to := at, at+len(g.text)
		for from > 0 && isBase64(s[from-1]) {
			from--
		}
		for to < len(s) && isBase64(s[to]) {
			to++
		}
		out.WriteString(s[:from] + Redacted)
		s = s[to:]
	}
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("+/-_=", c) >= 0
}
