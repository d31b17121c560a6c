package audit_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy/audit"
)

const (
	jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	pem = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIJ0TqjW\n-----END EC PRIVATE KEY-----"
)

func redactor(t testing.TB, cfg audit.RedactConfig) *audit.Redactor {
	t.Helper()
	r, err := audit.NewRedactor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRedactText(t *testing.T) {
	r := redactor(t, audit.RedactConfig{Secrets: []string{"hunter22", "hunter22-and-more", `quo"te<d>`}})
	for in, want := range map[string]string{
		"":                                       "",
		"nothing to see":                         "nothing to see",
		"pw hunter22.":                           "pw [redacted].",
		"hunter22-and-more":                      "[redacted]",
		"Authorization: Bearer " + jwt:           "Authorization: Bearer [redacted:jwt]",
		"token=" + jwt + "!":                     "token=[redacted:jwt]!",
		"authorization: bearer abcdef0123456789": "authorization: bearer [redacted:bearer]",
		"Basic dXNlcjpwYXNzd29yZA==":             "Basic [redacted:basic]",
		"BeArEr abcdef0123456789":                "BeArEr [redacted:bearer]",
		"bEAReR\tabcdef0123456789":               "bEAReR\t[redacted:bearer]",
		"bASic dXNlcjpwYXNzd29yZA==":             "bASic [redacted:basic]",
		"basic rules apply here":                 "basic rules apply here",
		"key AKIAIOSFODNN7EXAMPLE end":           "key [redacted:aws key id] end",
		`AWS_SECRET_ACCESS_KEY="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"`: `AWS_SECRET_ACCESS_KEY="[redacted:aws secret]"`,
		"x" + pem + "y":                        "x[redacted:private key]y",
		pem[:40]:                               "[redacted:private key]",
		"ghp_" + strings.Repeat("a1", 18):      "[redacted:github]",
		"postgres://bob:s3cret@db:5432/x":      "postgres://bob:[redacted:password]@db:5432/x",
		"https://example.com:8080/a@b":         "https://example.com:8080/a@b",
		"sk_live_" + strings.Repeat("a1", 12):  "[redacted:stripe]",
		"sk-proj-" + strings.Repeat("a1", 12):  "[redacted:api key]",
		"-----BEGIN PUBLIC KEY-----":           "-----BEGIN PUBLIC KEY-----",
		"AKIA is how their key ids begin":      "AKIA is how their key ids begin",
		"the eyJ prefix of a token":            "the eyJ prefix of a token",
		"a task-list and a risk-free thing is": "a task-list and a risk-free thing is",
		"GET /?page=2&api_key=0a1b2c&x=1":      "GET /?page=2&api_key=[redacted:parameter]&x=1",
		"GET /?key=value&monkey=tail":          "GET /?key=value&monkey=tail",
		`const dbPassword = "correct horse"`:   `const dbPassword = "[redacted:assigned]"`,
		`{'client-secret': 'abcd'}`:            `{'client-secret': '[redacted:assigned]'}`,
		`password = input.password || ""`:      `password = input.password || ""`,
		`{type: "token", key: "value"}`:        `{type: "token", key: "value"}`,
		"glpat-" + strings.Repeat("a1", 10):    "[redacted:gitlab]",
		"https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/abcdefghijkl": "https://hooks.slack.com/services/" +
			"[redacted:slack]",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
		if once := r.Text(in); r.Text(once) != once {
			t.Errorf("%q: redacting twice is not the same as once", in)
		}
	}
}

// A known secret is found in every encoding in which a program may send it out.
func TestRedactEncodings(t *testing.T) {
	const secret = "p/w+\"quo te\\x&é\u2028-ZZ9*"
	const whole = "[redacted]"
	r := redactor(t, audit.RedactConfig{Secrets: []string{secret, "plain-key-0123456789"}})
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, c := range map[string]struct{ text, want string }{
		"as it is": {secret, whole},
		"query": {"https://x.test/?a=1&k=" + url.QueryEscape(secret) + "&b=2",
			"https://x.test/?a=1&k=" + whole + "&b=2"},
		"query, lower case": {"k=p%2fw%2b%22quo%20te%5cx%26%c3%a9%e2%80%a8-ZZ9*", "k=" + whole},
		"path":              {"https://x.test/" + url.PathEscape(secret) + "/", "https://x.test/" + whole + "/"},
		"JSON":              {`{"a":` + quoted(secret) + `}`, `{"a":"` + whole + `"}`},
		"JSON.stringify":    {`{"a":"p/w+\"quo te\\x&é` + "\u2028" + `-ZZ9*"}`, `{"a":"` + whole + `"}`},
		"JSON in ASCII":     {`{"a":"p/w+\"quo te\\x&\u00e9\u2028-ZZ9*"}`, `{"a":"` + whole + `"}`},
		"JSON in JSON":      {quoted(`{"a":` + quoted(secret) + `}`), quoted(`{"a":"` + whole + `"}`)},
		"hexadecimal":       {"(" + hex.EncodeToString([]byte(secret)) + ")", "(" + whole + ")"},
		"HEXADECIMAL":       {strings.ToUpper(hex.EncodeToString([]byte(secret))), whole},
		"base64":            {"<" + base64.StdEncoding.EncodeToString([]byte(secret)) + ">", "<" + whole + ">"},
		"base64 of URLs":    {base64.RawURLEncoding.EncodeToString([]byte(secret)), whole},
		"base64, with a": {"x " + base64.StdEncoding.EncodeToString([]byte("a"+secret+"tail")) + " y",
			"x " + whole + " y"},
		"base64, with user:": {"x " + base64.RawURLEncoding.EncodeToString([]byte("user:"+secret)) + " y",
			"x " + whole + " y"},
		"twice": {"plain-key-0123456789 cGxhaW4ta2V5LTAxMjM0NTY3ODk= plain-key-0123456789",
			whole + " " + whole + " " + whole},
		"something else": {"cGxhaW4ta2V5LTk5OTk5OTk5OTk= plain-key-012345678",
			"cGxhaW4ta2V5LTk5OTk5OTk5OTk= plain-key-012345678"},
	} {
		if got := r.Text(c.text); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", name, c.text, got, c.want)
		}
	}
}

func TestRedactRecord(t *testing.T) {
	r := redactor(t, audit.RedactConfig{
		Secrets: []string{`quo"te<d>é`, "hunter22"},
		Fields:  []string{"caller.ip", "request.context.customer", "journal.*.body", "usage.ticks", "no.such.path"},
	})
	rec := audit.Record{
		ID: "exec_1", Caller: audit.Caller{Subject: "bob hunter22", IP: "192.0.2.1"},
		Source: audit.Source{Code: "fetch('x', '" + jwt + "')"},
		Ending: audit.Ending{Error: "hunter22 is wrong", Usage: audit.Usage{Ticks: 7, MemoryBytes: 9007199254740993}},
		Assessment: audit.Assessment{Reasons: []string{"fine", "hunter22"},
			DangerAnalysis: []byte(`{"findings":[{"excerpt":"\u0041KIAIOSFODNN7EXAMPLE"}]}`),
			Grants:         []byte(`{"big":12345678901234567890}`)},
		Inputs: audit.Inputs{Request: []byte(`{"context":{"customer":{"name":"Ann"},"Api-Key":"x","password":"","n":1.50},` +
			`"hunter22":1,"code":"quo\"te\u003cd>é"}`),
			Journal: []byte(`[{"body":"text","headers":{"Set-Cookie":["a=b"]},"list":[["Set-Cookie","a=b"],["Age",` +
				`"1"]],"big":12345678901234567890}]`)},
	}
	r.Apply(&rec)
	want := audit.Record{
		ID: "exec_1", Caller: audit.Caller{Subject: "bob [redacted]", IP: "[redacted]"},
		Source: audit.Source{Code: "fetch('x', '[redacted:jwt]')"},
		Ending: audit.Ending{Error: "[redacted] is wrong", Usage: audit.Usage{MemoryBytes: 9007199254740993}},
		Assessment: audit.Assessment{Reasons: []string{"fine", "[redacted]"},
			DangerAnalysis: []byte(`{"findings":[{"excerpt":"[redacted:aws key id]"}]}`),
			Grants:         []byte(`{"big":12345678901234567890}`)},
		Inputs: audit.Inputs{
			Request: []byte(`{"context":{"customer":{},"Api-Key":"[redacted]","password":"","n":1.50},"[redacted]":1,` +
				`"code":"[redacted]"}`),
			Journal: []byte(`[{"body":"[redacted]","headers":{"Set-Cookie":"[redacted]"},` +
				`"list":[["Set-Cookie","[redacted]"],["Age","1"]],"big":12345678901234567890}]`)},
	}
	if !reflect.DeepEqual(rec, want) {
		got, _ := json.MarshalIndent(rec, "", " ")
		exp, _ := json.MarshalIndent(want, "", " ")
		t.Errorf("got %s\nwant %s", got, exp)
	}
	clean := audit.Record{ID: "exec_2",
		Assessment: audit.Assessment{Grants: []byte(`{ "a" : [ ] }`), Reasons: []string{"x"}}}
	r.Apply(&clean)
	if redactor(t, audit.RedactConfig{}).Apply(&clean); string(clean.Grants) != `{"a":[]}` &&
		string(clean.Grants) != `{ "a" : [ ] }` {
		t.Errorf("grants: %s", clean.Grants)
	}
	broken := audit.Record{Inputs: audit.Inputs{Request: []byte(`{"password":"x"`)}}
	if r.Apply(&broken); string(broken.Request) != `"[redacted]"` {
		t.Errorf("what cannot be searched is stored: %s", broken.Request)
	}
}

// What a Redactor remembers about one document does not affect another one, or a member of a record that is searched
// more thoroughly.
func TestRedactRepeated(t *testing.T) {
	r := redactor(t, audit.RedactConfig{Secrets: []string{"hunter22-hunter22"}})
	const harmless, plain, named = `{"secrets":["a"]}`, `{"secrets":["hunter22-hunter22"]}`, `{"password":"a"}`
	for range 3 {
		for _, c := range []struct{ doc, grants, request string }{
			{harmless, harmless, harmless}, {plain, `{"secrets":["[redacted]"]}`, `{"secrets":["[redacted]"]}`},
			{named, named, `{"password":"[redacted]"}`}, {harmless, harmless, harmless},
		} {
			rec := audit.Record{Assessment: audit.Assessment{Grants: []byte(c.doc)},
				Inputs: audit.Inputs{Request: []byte(c.doc)}}
			r.Apply(&rec)
			if string(rec.Grants) != c.grants || string(rec.Request) != c.request {
				t.Errorf("%s: grants %s, request %s", c.doc, rec.Grants, rec.Request)
			}
		}
	}
}

func TestRedactorRefuses(t *testing.T) {
	for _, cfg := range []audit.RedactConfig{
		{Secrets: []string{"short"}}, {Fields: []string{"a..b"}}, {Fields: []string{""}}, {Fields: []string{"chain.hash"}},
		{Fields: []string{"id"}}, {Names: []string{"-"}},
	} {
		if _, err := audit.NewRedactor(cfg); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add(`{"password":"x","a":["` + jwt + `"]}`)
	f.Add(`{"a":"hunter22\u0032","b":1e400}`)
	f.Add(pem)
	r := redactor(f, audit.RedactConfig{Secrets: []string{"hunter22"}, Fields: []string{"request.*.a"}})
	f.Fuzz(func(t *testing.T, doc string) {
		rec := audit.Record{ID: "exec_1", Ending: audit.Ending{Error: doc}, Inputs: audit.Inputs{Request: []byte(doc)}}
		r.Apply(&rec)
		if strings.Contains(rec.Error, "hunter22") || strings.Contains(string(rec.Request), "hunter22") {
			t.Errorf("%q left %q and %q", doc, rec.Error, rec.Request)
		}
		if len(rec.Request) > 0 && !json.Valid(rec.Request) && json.Valid([]byte(doc)) {
			t.Errorf("%q became %q", doc, rec.Request)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	r := redactor(b, audit.RedactConfig{Secrets: []string{"hunter22-hunter22", "another secret of ours"}})
	for b.Loop() {
		rec := audit.Record{
			Ending: audit.Ending{Error: "TypeError: x is not a function"},
			Assessment: audit.Assessment{Grants: []byte(`{"network":[],"modules":["buffer","crypto","url","util"]}`),
				DangerAnalysis: []byte(`{"score":0,"level":"safe","findings":[]}`), Reasons: []string{"tier standard"},
				ASTTelemetry: []byte(`{"isValid":true,"accessedIdentifiers":["JSON","console"],"metrics":{"loopCount":1,` +
					`"functionCount":2,"astNodeCount":31,"maxDepth":5,"cyclomatic":3,"bytes":311,"lines":10},` +
					`"flags":{"hasEval":false}}`)},
		}
		r.Apply(&rec)
	}
}

// The code of a request is redacted as the code of its record is.
func TestRedactCodeTwice(t *testing.T) {
	t.Parallel()
	r := redactor(t, audit.RedactConfig{})
	const code = "password = 'abcdefgh'"
	rec := audit.Record{Source: audit.Source{Code: code}}
	rec.Request = json.RawMessage(`{"code":"` + code + `","files":{"a":"` + code + `;"}}`)
	r.Apply(&rec)
	const clean = "password = '[redacted:assigned]'"
	if rec.Code != clean || string(rec.Request) != `{"code":"`+clean+`","files":{"a":"`+clean+`;"}}` {
		t.Errorf("%s, %s", rec.Code, rec.Request)
	}
}
