package webhook_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
)

func TestBodies(t *testing.T) {
	const form, most = "application/x-www-form-urlencoded", 1000
	files := `{"files":[0` + strings.Repeat(",0", 2*execution.MaxFiles) + `]}` // more than a request may have
	for name, c := range map[string]struct{ contentType, body, want string }{
		"nothing":           {"", "", `null`},
		"JSON":              {"text/plain", `{"a": [1]}`, `{"a":[1]}`},
		"many files":        {"application/json", files, files},
		"a name twice":      {"application/json", `{"a":1,"a":2}`, `"{\"a\":1,\"a\":2}"`},
		"form":              {form, "a=b+c%26&n=1&e=", `{"a":"b c&","e":"","n":"1"}`},
		"form with charset": {form + "; charset=UTF-8", "a=1", `{"a":"1"}`},
		"repeated field":    {form, "a=1&b=2&a=3", `{"a":["1","3"],"b":"2"}`},
		"prototype":         {form, "__proto__=x", `{"__proto__":"x"}`},
		"bytes":             {form, "a%00=%ff&%ff=1", `{"a\u0000":"\ufffd","\ufffd":"1"}`},
		"JSON in a form":    {form, "payload=%7B%22a%22%3A1%7D", `{"payload":"{\"a\":1}"}`},
		"wrong escape":      {form, "a=%zz", `"a=%zz"`},
		"most fields":       {form, "a" + strings.Repeat("&a", most-1), `{"a":[""` + strings.Repeat(`,""`, most-1) + `]}`},
		"too many fields":   {form, "a" + strings.Repeat("&a", most), `"a` + strings.Repeat(`&a`, most) + `"`},
		"no form":           {"text/plain", "a=b", `"a=b"`},
	} {
		t.Run(name, func(t *testing.T) {
			event := webhook.NewEvent("POST", "/", nil, http.Header{"Content-Type": {c.contentType}}, nil, []byte(c.body))
			var got, want any
			if b, err := json.Marshal(event.Body); err != nil || json.Unmarshal(b, &got) != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			if g, w := text(got), text(want); g != w {
				t.Errorf("got %.200s, want %.200s", g, w)
			}
		})
	}
}

// An event as JSON is what encoding/json makes of it, but for escapes and the spaces of a body that is JSON.
func TestAppendJSON(t *testing.T) {
	for _, body := range []string{"", "a=b&c=\xff", `{"a": ["\u2028<"]}`, "x\x00\u2028\xfe<", "0"} {
		query := map[string]string{"a": "1,2", "\xff<": "\xfe"}
		header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Github-Event": {"a\xff<"}}
		event := webhook.NewEvent("POST", "/hooks/\xff", query, header, []string{"content-type", "x-github-*"}, []byte(body))
		got, err := event.AppendJSON([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		rest, ok := strings.CutPrefix(string(got), "before")
		var fast, standard any
		if err := json.Unmarshal([]byte(rest), &fast); err != nil || !ok {
			t.Fatal(err, string(got))
		}
		b, err := json.Marshal(event)
		if err != nil || json.Unmarshal(b, &standard) != nil {
			t.Fatal(err)
		}
		if g, w := text(fast), text(standard); g != w {
			t.Errorf("%q: got %s, want %s", body, g, w)
		}
	}
}

func text(v any) string {
	b, _ := json.Marshal(v) // it was read from JSON
	return string(b)
}

// Of names that become the same one, the last in order has its value in the event, so that a delivery has one input.
func TestNamesThatBecomeTheSame(t *testing.T) {
	query, form := map[string]string{}, []string{}
	for b := byte(0xf8); b != 0; b++ {
		query[string([]byte{b})] = string('a' + rune(b-0xf8))
		form = append(form, url.QueryEscape(string([]byte{b}))+"="+string('a'+rune(b-0xf8)))
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	event := webhook.NewEvent("POST", "/", query, header, nil, []byte(strings.Join(form, "&")))
	if got, want := text(event.Query), `{"�":"h"}`; got != want {
		t.Errorf("the query is %s, want %s", got, want)
	}
	if got, want := text(event.Body), `{"�":"h"}`; got != want {
		t.Errorf("the form is %s, want %s", got, want)
	}
}

// A body that is set to a text of its own is kept.
func TestBodyOfItsOwn(t *testing.T) {
	got, err := webhook.Event{Body: "a", RawBody: "b"}.AppendJSON(nil)
	if want := `"body":"a","rawBody":"b"}`; err != nil || !strings.HasSuffix(string(got), want) {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
