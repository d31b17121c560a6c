package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/airlock-run/airlock/policy/audit"
)

// expressed is a credential as a regular expression, which is searched in texts with one of the marks.
type expressed struct {
	marks []string
	expr  *regexp.Regexp
	with  string
}

// expressions returns what a Redactor finds, in the order in which it does.
func expressions() []expressed {
	p := func(kind, expr string, marks ...string) expressed {
		return expressed{marks, regexp.MustCompile(expr), "${1}[redacted:" + kind + "]${2}"}
	}
	return []expressed{
		p("private key", `()-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: `+
			`BLOCK)?-----|$)`, "PRIVATE KEY"),
		p("jwt", `()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){1,3}`, "eyJ"),
		p("bearer", `(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}`, ""),
		p("basic", `(?i)(\bbasic\s+)[A-Za-z0-9+/]{8,}={0,2}`, ""),
		p("aws key id", `()\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z2-7]{16}\b`, "AKIA", "ASIA", "ABIA", "ACCA", "AROA",
			"AIDA"),
		p("aws secret", `(?i)(aws_?(?:secret_?access_?key|session_?token)["']?\s*[:=]\s*["']?)[A-Za-z0-9/+=]{40,}`, "aws",
			"Aws", "AWS"),
		p("github", `()\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
			"github_pat_"),
		p("slack", `()\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, "xox"),
		p("stripe", `()\b(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9+/=]{16,}`, "k_live_", "k_test_", "whsec_"),
		p("google", `()\bAIza[A-Za-z0-9_-]{35}`, "AIza"),
		p("api key", `()\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}`, "sk-"),
		p("npm", `()\bnpm_[A-Za-z0-9]{36}`, "npm_"),
		p("gitlab", `()\bglpat-[A-Za-z0-9_-]{20,}`, "glpat-"),
		p("sendgrid", `()\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, "SG."),
		p("hugging face", `()\bhf_[A-Za-z0-9]{30,}`, "hf_"),
		p("google", `()\bya29\.[A-Za-z0-9_-]{20,}`, "ya29."),
		p("slack", `(\bhooks\.slack\.com/services/)[A-Za-z0-9/]{20,}`, "hooks.slack.com"),
		p("azure", `((?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{20,}={0,2}`, "AccountKey=", "SharedAccessKey="),
		p("parameter", `(?i)([?&](?:access_token|auth_token|api_?key|token|secret|password|sig|signature|x-amz-signature|`+
			`x-amz-security-token)=)[^&#\s"'<>`+"`"+`\\]+`,
			"oken=", "OKEN=", "ey=", "EY=", "ecret=", "ECRET=", "assword=", "ASSWORD=", "sig=", "SIG=", "ignature=",
			"IGNATURE="),
		p("assigned", `(?i)((?:password|passwd|passphrase|api[_-]?key|(?:access|auth|refresh)[_-]?token|client[_-]?secret|`+
			`(?:secret|private)[_-]?key)["']?\s*[:=]\s*["'`+"`"+`])[^"'`+"`"+`\r\n]{4,}(["'`+"`"+`])`,
			"assw", "ASSW", "assph", "ASSPH", "ey", "EY", "oken", "OKEN", "ecret", "ECRET"),
		p("password", `(\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"']*:)[^\s/@"']+(@)`, "://"),
	}
}

func byExpressions(all []expressed, s string) string {
	for _, e := range all {
		if slices.ContainsFunc(e.marks, func(m string) bool { return strings.Contains(s, m) }) {
			s = e.expr.ReplaceAllString(s, e.with)
		}
	}
	return s
}

// pieces are what credentials and the texts around them consist of.
var pieces = []string{
	"-----BEGIN ", "-----END ", "PRIVATE KEY", "EC ", " BLOCK", "-----", "-", "eyJ", "eyJhbGciOiJI",
	".", "abcd", "Bearer ", "bearer\t", "BEARER  ", "basic ", "Basic ", "BASIC ",
	"bEaReR ", "BeARer\n", "baSIC\t", "abcdefgh", "==",
	"=", "AKIA", "ASIA", "ABCDEFGHIJKLMNOP", "QRST", "aws", "AWS_", "_", "secret", "SECRET", "access",
	"key", "KEY", "session_", "token", "Token", "'", `"`, "`", ": ", ":", " = ", "ghp_", "ghs_",
	"github_pat_", "xox", "xoxb-", "sk_live_", "rk_test_", "whsec_", "AIza", "sk-", "sk-proj-", "npm_",
	"glpat-", "SG.", "hf_", "ya29.", "hooks.slack.com/services/", "AccountKey=", "SharedAccessKey=",
	"?", "&", "#", "api", "api_key", "access_token", "auth-", "refresh", "client_", "private",
	"password", "passwd", "passphrase", "PASSWORD", "sig=", "x-amz-signature=", "://", "https",
	"http+x", "user", "@", "/", " ", "\n", "\r\n", "a", "Z", "0", "é", "\xff", "\\", "1234567890",
	"abcdefghijklmnopqrstuvwxyz0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "<", ">", "{", "}",
	",", "[redacted]",
}

// What is found of a text is what regular expressions find. They are slow, and say better what is meant.
func TestRedactAsExpressed(t *testing.T) {
	t.Parallel()
	all, r := expressions(), redactor(t, audit.RedactConfig{})
	draw := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var text strings.Builder
		for range 1 + draw.IntN(14) {
			text.WriteString(pieces[draw.IntN(len(pieces))])
		}
		if got, want := r.Text(text.String()), byExpressions(all, text.String()); got != want {
			t.Fatalf("%q:\n got %q\nwant %q", text.String(), got, want)
		}
	}
}

// decoded is what a Redactor makes of a decoded document.
func decoded(all []expressed, names []string, v any) any {
	secret := func(name any, value any) bool {
		text, ok := name.(string)
		plain := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(text))
		return ok && slices.Contains(names, plain) && value != nil && value != "" && value != audit.Redacted
	}
	switch v := v.(type) {
	case string:
		return byExpressions(all, v)
	case []any:
		for i := range v {
			if i == 1 && len(v) == 2 && secret(v[0], v[1]) {
				v[1] = audit.Redacted
			}
		}
		for i := range v {
			v[i] = decoded(all, names, v[i])
		}
		return v
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if secret(name, member) {
				member = audit.Redacted
			}
			out[byExpressions(all, name)] = decoded(all, names, member)
		}
		return out
	}
	return v
}

// decode returns a document as values, with numbers as they are written.
func decode(t *testing.T, doc []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}

// document draws a document.
func document(draw *rand.Rand, depth int) string {
	spaces := []string{"", "", "", " ", "\n\t"}[draw.IntN(5)]
	text := func() string {
		s := pieces[draw.IntN(len(pieces))] + pieces[draw.IntN(len(pieces))]
		if draw.IntN(2) == 0 {
			s = []string{"password", "Set-Cookie", "api_key", "x", "PASS-wd", "m\u00fcll"}[draw.IntN(6)]
		}
		b, err := json.Marshal(s)
		if err != nil {
			return `""`
		}
		if draw.IntN(4) == 0 { // the same text in escapes
			var escaped strings.Builder
			for _, unit := range utf16.Encode([]rune(strings.ToValidUTF8(s, "\ufffd"))) {
				fmt.Fprintf(&escaped, `\u%04X`, unit)
			}
			return `"` + escaped.String() + `"`
		}
		return string(b)
	}
	switch kind := draw.IntN(9); {
	case kind < 2 && depth < 4:
		var members []string
		for i := range draw.IntN(4) {
			name := text()
			members = append(members, name[:len(name)-1]+strings.Repeat("_", i)+`"`+spaces+":"+document(draw, depth+1))
		}
		return spaces + "{" + strings.Join(members, ",") + spaces + "}"
	case kind < 4 && depth < 4:
		var elements []string
		for range draw.IntN(4) {
			elements = append(elements, document(draw, depth+1))
		}
		return "[" + strings.Join(elements, ",") + spaces + "]" + spaces
	case kind < 7:
		return text()
	}
	return []string{"null", "true", "false", "0", "-1.50e+10", "12345678901234567890", `""`, `"[redacted]"`}[draw.IntN(8)]
}

// Of a document the same strings and members are replaced as of its decoded values, and nothing else changes.
func TestRedactDocuments(t *testing.T) {
	t.Parallel()
	all, r, names := expressions(), redactor(t, audit.RedactConfig{}), audit.DefaultNames()
	draw := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		doc := document(draw, 0)
		want := decoded(all, names, decode(t, []byte(doc)))
		rec := audit.Record{Inputs: audit.Inputs{Request: []byte(doc)}}
		r.Apply(&rec)
		if !reflect.DeepEqual(decode(t, rec.Request), want) {
			t.Fatalf("%s\nbecame %s\nwant   %v", doc, rec.Request, want)
		}
		if reflect.DeepEqual(decode(t, []byte(doc)), want) && string(rec.Request) != doc {
			t.Fatalf("%s became %s", doc, rec.Request)
		}
		for range 3 { // what is no JSON is not stored
			broken := []byte(doc)
			at := draw.IntN(len(broken))
			broken[at] = "{}[]\",:\\0e.-tx\n\x01"[draw.IntN(16)]
			rec := audit.Record{Inputs: audit.Inputs{Request: broken}}
			r.Apply(&rec)
			if !json.Valid(rec.Request) || !json.Valid(broken) && string(rec.Request) != `"[redacted]"` {
				t.Fatalf("%s became %s", broken, rec.Request)
			}
			if json.Valid(broken) && string(rec.Request) == `"[redacted]"` && broken[0] != '"' {
				t.Fatalf("%s became %s", broken, rec.Request)
			}
		}
	}
}

// What a Redactor does with a request costs no allocation for each of its members, whose number the caller chooses.
func TestRedactAllocates(t *testing.T) {
	r := redactor(t, audit.RedactConfig{Fields: []string{"request.context.x", "journal.*.body"}})
	var members strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&members, `"k-%d":"\n","l%d":1,`, i, i)
	}
	doc := []byte(`{"context":{` + members.String() + `"x":"a"},"password":"b"}`)
	rec := audit.Record{Inputs: audit.Inputs{Journal: doc}}
	if n := testing.AllocsPerRun(1, func() {
		rec.Request = doc
		r.Apply(&rec)
	}); n > 1000 {
		t.Errorf("%v allocations", n)
	}
	want := strings.NewReplacer(`"x":"a"`, `"x":"[redacted]"`, `"b"`, `"[redacted]"`).Replace(string(doc))
	if string(rec.Request) != want {
		t.Errorf("the request became %.200s…", rec.Request)
	}
}

// costly returns pieces of texts that look like credentials, and are some or are none.
func costly() []string {
	return []string{
		"x", "eyJ", "-eyJ", "AKIA", "AKIAABCDEFGHIJKLMNOP ", "Bearer abcdefghijklmnop ", "a://b:c@",
		"-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "password='abcdefgh' ", "password='", "key", "aws",
		"as", "&token=", "-SG.", "-sk-", "xoxb-a", "basic ", "PRIVATE KEY", "key=", "token=", "?key=", "&key=&",
		"password=", "aws_secret_access_key=", "AccountKey=", "api_key: ", "api_key='", "bearer ",
		"a://b:", "hooks.slack.com/services/", "ey......", "oken EY ecret EC assw key= sig= ://",
		everyMark, apart(everyMark),
		everyMark + strings.Repeat(".", 40), "eyoken", "ebasi bear Aws SG. eyJ key= :// assw sk- xox hf_ ",
	}
}

// everyMark holds what each pattern is searched by.
const everyMark = "-----BEGIN eyJ bearer BASIC AKIA ASIA aws AWS ghp_ gho_ github_pat_ xox k_live_ whsec_ AIza sk- " +
	"npm_ glpat- SG. hf_ ya29. hooks.slack.com/services/ AccountKey= oken= OKEN= ey= EY= ecret= assword= sig= SIG= " +
	"ignature= assw ASSW assph ey EY oken ecret ECRET :// "

// apart returns the words of a text with many spaces between them.
func apart(text string) string { return strings.ReplaceAll(text, " ", strings.Repeat(" ", 33)) }

// Texts that look like credentials take time in proportion to their length, whatever comes behind them.
func TestRedactHostile(t *testing.T) {
	r := redactor(t, audit.RedactConfig{})
	const size = 256 << 10
	for _, piece := range costly() {
		for _, rest := range []string{piece, " ", "a", "-", "="} {
			text := strings.Repeat(piece, size/2/len(piece)) + strings.Repeat(rest, size/2/len(rest))
			began := time.Now()
			r.Text(text)
			if took := time.Since(began); took > 2*time.Second { // it takes milliseconds
				t.Errorf("%q, then %q: %v", piece, rest, took)
			}
		}
	}
}

// BenchmarkRedactHostile redacts a megabyte of texts that look like credentials, and are some or are none.
func BenchmarkRedactHostile(b *testing.B) {
	r := redactor(b, audit.RedactConfig{})
	for _, piece := range costly() {
		text := strings.Repeat(piece, 1<<20/len(piece))
		b.Run(piece, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Text(text)
			}
		})
	}
}
