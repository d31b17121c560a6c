package audit_test

import (
	"encoding/json"
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
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
		if once := r.Text(in); r.Text(once) != once {
			t.Errorf("%q: redacting twice is not the same as once", in)
		}
	}
}

func TestRedactRecord(t *testing.T) {
	r := redactor(t, audit.RedactConfig{
		Secrets: []string{`quo"te<d>é`, "hunter22"},
		Fields:  []string{"caller.ip", "request.context.customer", "journal.*.body", "usage.ticks", "no.such.path"},
	})
	rec := audit.Record{
		ID: "exec_1", Caller: audit.Caller{Subject: "bob hunter22", IP: "192.0.2.1"}, Code: "fetch('x', '" + jwt + "')",
		Error: "hunter22 is wrong", Reasons: []string{"fine", "hunter22"}, Usage: audit.Usage{Ticks: 7, MemoryBytes: 9007199254740993},
		DangerAnalysis: []byte(`{"findings":[{"excerpt":"\u0041KIAIOSFODNN7EXAMPLE"}]}`),
		Grants:         []byte(`{"big":12345678901234567890}`),
		Request:        []byte(`{"context":{"customer":{"name":"Ann"},"Api-Key":"x","password":"","n":1.50},"hunter22":1,"code":"quo\"te\u003cd>é"}`),
		Journal:        []byte(`[{"body":"text","headers":{"Set-Cookie":["a=b"]},"big":12345678901234567890}]`),
	}
	r.Apply(&rec)
	want := audit.Record{
		ID: "exec_1", Caller: audit.Caller{Subject: "bob [redacted]", IP: "[redacted]"}, Code: "fetch('x', '[redacted:jwt]')",
		Error: "[redacted] is wrong", Reasons: []string{"fine", "[redacted]"}, Usage: audit.Usage{MemoryBytes: 9007199254740993},
		DangerAnalysis: []byte(`{"findings":[{"excerpt":"[redacted:aws key id]"}]}`),
		Grants:         []byte(`{"big":12345678901234567890}`),
		Request:        []byte(`{"[redacted]":1,"code":"[redacted]","context":{"Api-Key":"[redacted]","customer":{},"n":1.50,"password":""}}`),
		Journal:        []byte(`[{"big":12345678901234567890,"body":"[redacted]","headers":{"Set-Cookie":"[redacted]"}}]`),
	}
	if !reflect.DeepEqual(rec, want) {
		got, _ := json.MarshalIndent(rec, "", " ")
		exp, _ := json.MarshalIndent(want, "", " ")
		t.Errorf("got %s\nwant %s", got, exp)
	}
	clean := audit.Record{ID: "exec_2", Grants: []byte(`{ "a" : [ ] }`), Reasons: []string{"x"}}
	r.Apply(&clean)
	if redactor(t, audit.RedactConfig{}).Apply(&clean); string(clean.Grants) != `{"a":[]}` && string(clean.Grants) != `{ "a" : [ ] }` {
		t.Errorf("grants: %s", clean.Grants)
	}
	broken := audit.Record{Request: []byte(`{"password":"x"`)}
	if r.Apply(&broken); string(broken.Request) != `"[redacted]"` {
		t.Errorf("what cannot be searched is stored: %s", broken.Request)
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
		rec := audit.Record{ID: "exec_1", Error: doc, Request: []byte(doc)}
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
			Error: "TypeError: x is not a function", Grants: []byte(`{"network":[],"modules":["buffer","crypto","url","util"]}`),
			DangerAnalysis: []byte(`{"score":0,"level":"safe","findings":[]}`), Reasons: []string{"tier standard"},
			ASTTelemetry: []byte(`{"isValid":true,"accessedIdentifiers":["JSON","console"],"metrics":{"loopCount":1,"functionCount":2,"astNodeCount":31,"maxDepth":5,"cyclomatic":3,"bytes":311,"lines":10},"flags":{"hasEval":false}}`),
		}
		r.Apply(&rec)
	}
}
