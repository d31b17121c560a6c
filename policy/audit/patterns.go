package audit

import (
	"strings"
	"unicode/utf8"
)

// pattern recognizes a credential by its form. The formats are those that their issuers publish.
//
// Callers choose the texts that are searched, up to megabytes of them, so a pattern is code and not a regular
// expression: of a text of nothing but beginnings of credentials, an expression takes 100 ns a byte.
type pattern struct {
	kind string
	// marks are case-sensitive: only text that contains one of them is searched.
	marks []string
	// word, if it is set, is what is searched for in place of the marks, in any case.
	word string
	find finder
	// seek finds the marks, or how the word begins.
	seek *seeker
}

// A finder looks for a credential whose mark is at a place in s and that begins at done or later. It returns the part
// to be replaced and where the search goes on. The part is empty if there is none. All calls for one text together take
// time in proportion to its length.
type finder func(s string, at int, mark string, done int) (from, to, next int)

// token finds a word that begins with its mark and goes on with at least so many bytes of a class.
func token(c *class, least int) finder { return prefixed("", c, least, maxToken) }

// maxToken is more than the length of any text.
const maxToken = 1 << 62

// prefixed finds tokens whose mark comes behind one of the bytes before, if there are some, and is followed by least to
// most bytes of a class.
func prefixed(before string, c *class, least, most int) finder {
	return func(s string, at int, mark string, done int) (from, to, next int) {
		from = at
		if before != "" {
			from--
		}
		if from < done || before != "" && strings.IndexByte(before, s[from]) < 0 || !bound(s, from) {
			return 0, 0, at + 1
		}
		body := at + len(mark)
		end := body
		for end < len(s) && c[s[end]] && end-body < most {
			end++
		}
		if end-body < least {
			return 0, 0, at + 1
		}
		return from, end, end
	}
}

// after finds a value of at least so many bytes of a class, then padding, behind its mark.
func after(c *class, least int, padding string) finder {
	return func(s string, at int, mark string, _ int) (from, to, next int) {
		from = at + len(mark)
		if to = c.run(s, from); to-from < least {
			return 0, 0, at + 1
		}
		for range 2 {
			to = skip(s, to, padding)
		}
		return from, to, to
	}
}

// authorization finds the credential behind the name of a scheme.
func authorization(name string, c *class, padding string) finder {
	value := after(c, 8, padding)
	return func(s string, at int, _ string, done int) (from, to, next int) {
		end := at + len(name)
		body := space.run(s, end)
		if at < done || !bound(s, at) || body == end {
			return 0, 0, at + 1
		}
		if from, to, next = value(s, body, "", done); from == to {
			return 0, 0, at + 1
		}
		return from, to, next
	}
}

// pem finds private keys, from a line that begins one to the line that ends it, or to the end of the text.
func pem(s string, at int, _ string, _ int) (from, to, next int) {
	begun, ok := pemLine(s, at+len(beginPEM))
	if !ok {
		return 0, 0, begun
	}
	for end := begun; ; {
		n := strings.Index(s[end:], endPEM)
		if n < 0 {
			return at, len(s), len(s)
		}
		if end, ok = pemLine(s, end+n+len(endPEM)); ok {
			return at, end, end
		}
	}
}

const beginPEM, endPEM = "-----BEGIN ", "-----END "

// pemLine reports whether a line that begins before a place is one of a private key, and where it ends.
func pemLine(s string, at int) (end int, ok bool) {
	end = capital.run(s, at)
	label := s[at:end]
	ok = strings.HasSuffix(label, "PRIVATE KEY") || strings.HasSuffix(label, "PRIVATE KEY BLOCK")
	if !ok || !strings.HasPrefix(s[end:], "-----") {
		return end, false
	}
	return end + len("-----"), true
}

// jwt finds signed and encrypted tokens: three to five parts, of which the first two are not empty.
func jwt(s string, at int, _ string, _ int) (from, to, next int) {
	if !bound(s, at) {
		return 0, 0, at + 1
	}
	head := dashed.run(s, at+3)
	body := head
	if head < len(s) && s[head] == '.' {
		body = dashed.run(s, head+1)
	}
	if head-at-3 < 8 || body-head-1 < 4 || body == len(s) || s[body] != '.' {
		return 0, 0, head // what begins before has the same parts
	}
	to = body
	for parts := 0; parts < 3 && to < len(s) && s[to] == '.'; parts++ {
		to = dashed.run(s, to+1)
	}
	return at, to, to
}

// sendGrid finds keys of two parts.
func sendGrid(s string, at int, mark string, _ int) (from, to, next int) {
	middle := dashed.run(s, at+len(mark))
	if !bound(s, at) || middle-at-len(mark) < 16 || middle == len(s) || s[middle] != '.' {
		return 0, 0, at + 1
	}
	if to = dashed.run(s, middle+1); to-middle-1 < 16 {
		return 0, 0, at + 1
	}
	return at, to, to
}

// keyID finds identifiers of 20 letters and digits.
func keyID(s string, at int, mark string, done int) (from, to, next int) {
	from, to, next = prefixed("", awsDigits, 16, 16)(s, at, mark, done)
	if from < to && to < len(s) && word[s[to]] {
		return 0, 0, at + 1
	}
	return from, to, next
}

var awsDigits = classOf("A-Z2-7")

// gitHub finds tokens of both kinds.
func gitHub(s string, at int, mark string, done int) (from, to, next int) {
	if mark == "github_pat_" {
		return token(word, 22)(s, at, mark, done)
	}
	return token(alnum, 36)(s, at, mark, done)
}

// stripe finds keys, and secrets of webhooks.
func stripe(s string, at int, mark string, done int) (from, to, next int) {
	if mark == "whsec_" {
		return token(padded, 16)(s, at, mark, done)
	}
	return prefixed("rs", padded, 16, maxToken)(s, at, mark, done)
}

var padded = classOf("a-zA-Z0-9+/=")

// awsSecret finds the values of variables that are named after a secret of AWS.
func awsSecret(s string, at int, mark string, _ int) (from, to, next int) {
	end := skip(s, at+len(mark), "_")
	switch {
	case has(s, end, "secret"):
		for _, part := range []string{"secret", "access", "key"} {
			if !has(s, end, part) {
				return 0, 0, at + 1
			}
			if end += len(part); part != "key" {
				end = skip(s, end, "_")
			}
		}
	case has(s, end, "session"):
		if end = skip(s, end+len("session"), "_"); !has(s, end, "token") {
			return 0, 0, at + 1
		}
		end += len("token")
	default:
		return 0, 0, at + 1
	}
	end, ok := assigned(s, end)
	if !ok {
		return 0, 0, at + 1
	}
	from = skip(s, end, `"'`)
	if to = padded.run(s, from); to-from < 40 {
		return 0, 0, at + 1
	}
	return from, to, to
}

// assigned reports whether a name that ends at a place is assigned a value, and where the value begins.
func assigned(s string, at int) (value int, ok bool) {
	at = space.run(s, skip(s, at, `"'`))
	value = skip(s, at, ":=")
	return space.run(s, value), value > at
}

// parameter finds the values of secret parameters of URLs. Its mark ends with the sign behind the name.
func parameter(s string, at int, mark string, done int) (from, to, next int) {
	from = at + len(mark)
	for _, name := range parameters {
		begin := from - 1 - len(name)
		if begin <= done || s[begin-1] != '?' && s[begin-1] != '&' || !has(s, begin, name) {
			continue
		}
		if to = value.run(s, from); from < to { // only behind a name, as it may be as long as the text
			return from, to, to
		}
		break
	}
	return 0, 0, at + 1
}

var (
	value      = except("&#\t\n\f\r \"'<>`\\")
	parameters = []string{
		"access_token", "auth_token", "api_key", "apikey", "token", "secret", "password", "sig", "signature",
		"x-amz-signature", "x-amz-security-token",
	}
)

// variable is how the name of a variable with a secret ends, and what comes before that.
type variable struct {
	ending string
	owners []string
}

var (
	keys          = variable{"key", []string{"api", "secret", "private"}}
	tokens        = variable{"token", []string{"access", "auth", "refresh"}}
	clientSecrets = variable{"secret", []string{"client"}}
)

// ends reports whether a name of the variable ends at a place and begins at done or later.
func (v *variable) ends(s string, at, done int) bool {
	begin := at - len(v.ending)
	if begin <= done || !has(s, begin, v.ending) {
		return false
	}
	if s[begin-1] == '-' || s[begin-1] == '_' {
		begin--
	}
	for _, owner := range v.owners {
		if begin-len(owner) >= done && has(s, begin-len(owner), owner) {
			return true
		}
	}
	return false
}

// secretVariable finds quoted values of at least four characters that are assigned to a name of a secret.
func secretVariable(s string, at int, mark string, done int) (from, to, next int) {
	end, known := at+len(mark), false
	switch mark {
	case "ey", "EY":
		known = keys.ends(s, end, done)
	case "oken", "OKEN":
		known = tokens.ends(s, end, done)
	case "ecret", "ECRET":
		known = clientSecrets.ends(s, end, done)
	default: // the mark is behind the first letter
		for _, name := range []string{"password", "passwd", "passphrase"} {
			if !known && at-1 >= done && has(s, at-1, name) {
				end, known = at-1+len(name), true
			}
		}
	}
	if !known {
		return 0, 0, at + 1
	}
	open, ok := assigned(s, end)
	from = skip(s, open, quotes)
	if !ok || from == open {
		return 0, 0, at + 1
	}
	to = quoted.run(s, from)
	if to == len(s) || strings.IndexByte(quotes, s[to]) < 0 || utf8.RuneCountInString(s[from:to]) < 4 {
		return 0, 0, at + 1
	}
	return from, to, to + 1
}

const quotes = "\"'`"

var quoted = except(quotes + "\r\n")

// password finds the passwords of URLs, which come behind the names of users.
func password(s string, at int, _ string, done int) (from, to, next int) {
	begins := false
	for i := at - 1; i >= done && scheme[s[i]] && !begins; i-- {
		begins = letter[s[i]] && bound(s, i)
	}
	colon := user.run(s, at+len("://"))
	if !begins || colon == len(s) || s[colon] != ':' {
		return 0, 0, at + 1
	}
	from = colon + 1
	if to = pass.run(s, from); to == from || to == len(s) || s[to] != '@' {
		return 0, 0, at + 1
	}
	return from, to, to + 1
}

var (
	user = except("\t\n\f\r /:@\"'")
	pass = except("\t\n\f\r /@\"'")
)

// patterns returns the patterns in the order in which they are searched.
func patterns() []pattern {
	p := func(kind string, find finder, marks ...string) pattern {
		return pattern{kind, marks, "", find, newSeeker(marks)}
	}
	scheme := func(name string, c *class, padding string) pattern {
		return pattern{
			name, inAnyCase(name[len(name)-3:]), name, authorization(name, c, padding), newSeeker(inAnyCase(name[:2])),
		}
	}
	return []pattern{
		p("private key", pem, beginPEM),
		p("jwt", jwt, "eyJ"),
		scheme("bearer", classOf("a-zA-Z0-9._~+/=-"), ""),
		scheme("basic", base64s, "="),
		p("aws key id", keyID, "AKIA", "ASIA", "ABIA", "ACCA", "AROA", "AIDA"),
		p("aws secret", awsSecret, "aws", "Aws", "AWS"),
		p("github", gitHub, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
		p("slack", slackToken, "xox"),
		p("stripe", stripe, "k_live_", "k_test_", "whsec_"),
		p("google", prefixed("", dashed, 35, 35), "AIza"),
		p("api key", token(dashed, 20), "sk-"),
		p("npm", prefixed("", alnum, 36, 36), "npm_"),
		p("gitlab", token(dashed, 20), "glpat-"),
		p("sendgrid", sendGrid, "SG."),
		p("hugging face", token(alnum, 30), "hf_"),
		p("google", token(dashed, 20), "ya29."),
		p("slack", slackHook, "hooks.slack.com/services/"),
		p("azure", after(base64s, 20, "="), "AccountKey=", "SharedAccessKey="),
		p("parameter", parameter, "oken=", "OKEN=", "ey=", "EY=", "ecret=", "ECRET=", "assword=", "ASSWORD=", "sig=", "SIG=",
			"ignature=", "IGNATURE="),
		p("assigned", secretVariable, "assw", "ASSW", "assph", "ASSPH", "ey", "EY", "oken", "OKEN", "ecret", "ECRET"),
		p("password", password, "://"),
	}
}

// inAnyCase returns a text of lower-case letters in every combination of cases.
func inAnyCase(text string) []string {
	all := []string{""}
	for i := range len(text) {
		for n, begun := range all {
			all[n] = begun + text[i:i+1]
			all = append(all, begun+strings.ToUpper(text[i:i+1]))
		}
	}
	return all
}

// slackToken finds tokens, which say their kind in a letter.
func slackToken(s string, at int, mark string, done int) (from, to, next int) {
	kind := skip(s, at+len(mark), "abeoprs")
	if kind == at+len(mark) || kind == len(s) || s[kind] != '-' {
		return 0, 0, at + 1
	}
	return token(hyphened, 10)(s, at, s[at:kind+1], done)
}

var hyphened = classOf("a-zA-Z0-9-")

// slackHook finds the secret part of the address of a webhook.
func slackHook(s string, at int, mark string, done int) (from, to, next int) {
	if !bound(s, at) {
		return 0, 0, at + 1
	}
	return after(slashed, 20, "")(s, at, mark, done)
}

var slashed = classOf("a-zA-Z0-9/")
