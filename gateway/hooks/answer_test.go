package hooks_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/hooks"
)

func TestNewAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, body, kind string
		status            int
	}{
		{``, "", "", 204},
		{`null`, "", "", 204},
		{`{"a":1}`, `{"a":1}`, "application/json", 200},
		{`"text"`, `"text"`, "application/json", 200},
		{`{"status":201,"body":"made"}`, "made", "text/plain; charset=utf-8", 201},
		{`{"status":200,"body":{"challenge":"x"}}`, `{"challenge":"x"}`, "application/json", 200},
		{`{"status":302,"headers":{"location":"/x"}}`, "", "", 302},
		{`{"status":200,"headers":{"content-type":"text/html"},"body":"<b>"}`, "<b>", "text/html", 200},
		{`{"status":99,"body":"x"}`, `{"status":99,"body":"x"}`, "application/json", 200},
		{`{"status":"ok"}`, `{"status":"ok"}`, "application/json", 200},
		{`{"status":200,"more":1}`, `{"status":200,"more":1}`, "application/json", 200},
		{`{"status":200,"headers":{"x":"a\r\nb: c"}}`, `{"status":200,"headers":{"x":"a\r\nb: c"}}`, "application/json", 200},
		{`{"status":200,"headers":{"x y":"a"}}`, `{"status":200,"headers":{"x y":"a"}}`, "application/json", 200},
	} {
		a, ok := hooks.NewAnswer(json.RawMessage(c.value))
		if !ok || a.Status != c.status || a.Body != c.body || a.Headers["Content-Type"] != c.kind {
			t.Errorf("%s: %+v %v", c.value, a, ok)
		}
	}
	a, _ := hooks.NewAnswer(json.RawMessage(`{"status":200,"headers":{"set-cookie":"a=b","content-length":"1","Content-Security-Policy":"x","access-control-allow-origin":"*","x-own":"y","n":3}}`))
	if len(a.Headers) != 2 || a.Headers["X-Own"] != "y" || a.Headers["N"] != "3" {
		t.Errorf("headers %v", a.Headers)
	}
	if _, ok := hooks.NewAnswer(json.RawMessage(`"` + strings.Repeat("x", hooks.MaxAnswerBytes) + `"`)); ok {
		t.Error("an answer of more than a mebibyte was taken")
	}
}

func TestNewEvent(t *testing.T) {
	t.Parallel()
	h := execution.FunctionHook{Scheme: hooks.SharedHeader, Secret: "s"}
	header := headers("X-Webhook-Secret: s", "X-Event: a", "X-Event: b")
	for _, c := range []struct{ body, want string }{
		{`{"a":[1]}`, `{"a":[1]}`},
		{``, `null`},
		{`a=b`, `"a=b"`},
		{strings.Repeat("[", 500) + strings.Repeat("]", 500), `"` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `"`},
	} {
		raw, err := json.Marshal(hooks.NewEvent(h, "POST", "/hooks/x", url.Values{"q": {"1", "2"}}, header, []byte(c.body)))
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Method, Path, RawBody string
			Query, Headers        map[string]string
			Body                  json.RawMessage
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		if e.Method != "POST" || e.Path != "/hooks/x" || e.Query["q"] != "1,2" || e.Headers["x-event"] != "a, b" || string(e.Body) != c.want || e.RawBody != c.body {
			t.Errorf("%s", raw)
		}
		if strings.Contains(string(raw), "x-webhook-secret") {
			t.Errorf("the secret is in the event: %s", raw)
		}
	}
}

func FuzzNewAnswer(f *testing.F) {
	for _, s := range []string{``, `null`, `{"status":201,"headers":{"X-A":"b","Set-Cookie":"c"},"body":"made"}`, `{"status":200,"headers":{"a":1},"body":[1]}`, `{"status":99}`, `[1]`, `{"status":1e999}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		a, ok := hooks.NewAnswer(value)
		if !ok {
			return
		}
		if a.Status < 200 || a.Status > 599 || len(a.Body) > hooks.MaxAnswerBytes {
			t.Errorf("%q: %+v", value, a)
		}
		for name, v := range a.Headers {
			if strings.ContainsAny(name+v, "\r\n\x00") || strings.EqualFold(name, "Set-Cookie") || strings.EqualFold(name, "Content-Length") {
				t.Errorf("%q: the header %q: %q", value, name, v)
			}
		}
	})
}

func FuzzNewEvent(f *testing.F) {
	f.Add("POST", "/hooks/f", "a=1", "X-A", "b", []byte(`{"a":1}`))
	f.Add("POST", "/", "", "", "", []byte("\xff"))
	f.Fuzz(func(t *testing.T, method, path, query, name, value string, body []byte) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		h := execution.FunctionHook{Scheme: hooks.SharedHeader, Secret: "s"}
		raw, err := json.Marshal(hooks.NewEvent(h, method, path, values, map[string][]string{name: {value}}, body))
		if err != nil {
			t.Fatalf("%v: %q", err, body)
		}
		if _, err := execution.DecodeRequest([]byte(`{"code":"1","input":` + string(raw) + `}`)); err != nil {
			t.Errorf("no input of an execution: %v: %s", err, raw)
		}
	})
}
