package web

import (
	"strings"
	"unicode"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// domains is the profile of "domain to ASCII" in the URL standard, where beStrict is false.
var domains = idna.New(
	idna.MapForLookup(), idna.ValidateLabels(true), idna.StrictDomainName(false), idna.BidiRule(),
	idna.Transitional(false), idna.CheckHyphens(false), idna.CheckJoiners(true), idna.VerifyDNSLength(false),
)

// domainToASCII returns the ASCII form of a host name of a special scheme.
func domainToASCII(host string) (string, bool) {
	ascii, err := domains.ToASCII(strings.Map(domainFold, strings.ReplaceAll(host, "\u1e9e", "ß")))
	if err != nil || ascii == "" {
		return "", false
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if !strings.HasPrefix(label, "xn--") {
			continue
		}
		decoded, err := idna.Punycode.ToUnicode(label)
		if err != nil || decoded == "" || strings.HasPrefix(decoded, "xn--") {
			return "", false
		}
	}
	return ascii, true
}

// domainFold maps characters that UTS #46 maps since Unicode 15.1 and that the older tables of x/net disallow.
func domainFold(r rune) rune {
	switch {
	case r == 0x4c0, r >= 0x10a0 && r <= 0x10c5, r == 0x2132, r == 0x2183:
		return unicode.ToLower(r)
	case r == 0x2f868, r == 0x2f874, r == 0x2f91f, r == 0x2f95f, r == 0x2f9bf:
		r, _ = utf8.DecodeRuneInString(norm.NFC.String(string(r)))
	case r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r >= 0x1d173 && r <= 0x1d17a:
		return -1
	}
	return r
}

const (
	// maxHost bounds a host name, of which DNS takes 253 bytes: encoding one takes time with the square of its length.
	maxHost = 1024
	// noHost is the name of no host.
	noHost = "|"
)

// disguiseHost prepares a host for the parser, which checks names by stricter rules than the standard and takes some
// for numbers that are not. Names become ASCII, with an x before each label that undisguiseHost removes.
func disguiseHost(u *whatwg.Url, host string) string {
	if !u.IsSpecialScheme() || strings.HasPrefix(host, "[") || host == "" {
		return host
	}
	host = strings.ToLower(percentDecode(host))
	if len(host) > maxHost || !utf8.ValidString(host) {
		return noHost
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) || strings.Contains(host, "xn--") {
		var ok bool
		if host, ok = domainToASCII(host); !ok {
			return noHost
		}
	}
	if strings.Contains(host, "%") {
		return noHost
	}
	if endsInNumber(host) {
		return host
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		if label != "" {
			labels[i] = "x" + label
		}
	}
	return strings.Join(labels, ".")
}

func undisguiseHost(_ *whatwg.Url, host string) string {
	labels := strings.Split(host, ".")
	for i, label := range labels {
		labels[i] = strings.TrimPrefix(label, "x")
	}
	return strings.Join(labels, ".")
}

// endsInNumber reports whether the standard takes a host for an IPv4 address.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	hex, isHex := strings.CutPrefix(last, "0x")
	return isHex && strings.Trim(hex, "0123456789abcdef") == "" || last != "" && strings.Trim(last, "0123456789") == ""
}

// hostUnicode answers host.unicode(host): it returns a host name with its labels in Unicode.
func hostUnicode(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	host, _ := c.Word(a[0], maxHost)
	if err := c.Work(16 * maxHost); err != nil {
		return 0, err
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		if decoded, err := idna.Punycode.ToUnicode(label); err == nil {
			labels[i] = decoded
		}
	}
	return c.NewString(strings.Join(labels, "."))
}
