package execution_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

func TestSources(t *testing.T) {
	files := func(pairs ...string) map[string]execution.File {
		m := map[string]execution.File{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = execution.File(pairs[i+1])
		}
		return m
	}
	seen := map[string]int{}
	for i, s := range []execution.Sources{
		{}, {Code: "1"}, {Code: "1", Language: "typescript"}, {Entry: "a", Files: files("a", "1")},
		{Entry: "b", Files: files("a", "1", "b", "")},
		{Entry: "a", Files: files("a", "1", "b", "")}, {Entry: "a", Files: files("a", "", "b", "1")}, {Code: "11:1"},
		{Entry: "a", Files: files("a", "11:b0:")},
	} {
		if other, taken := seen[s.Sum()]; taken {
			t.Errorf("%d and %d have one sum", i, other)
		}
		seen[s.Sum()] = i
		q := execution.Request{Policy: "strict"}.WithSources(s)
		if q.Sources().Sum() != s.Sum() || q.Policy != "strict" {
			t.Errorf("%+v", q)
		}
	}
}

// An envelope may name its sources; it then has a function and a sum that can be one.
func TestNamedSourcesDecode(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	inv := execution.Invocation{
		Airlock: 1, ID: "exec_0123456789", Via: execution.ViaHTTP,
		Request:  execution.Request{Policy: "strict", Input: json.RawMessage("1")},
		Function: &execution.FunctionRef{Name: "f", Version: 1}, Content: sum,
	}
	text, err := json.Marshal(inv)
	if err != nil {
		t.Fatal(err)
	}
	got, err := execution.DecodeInvocation(text)
	if err != nil {
		t.Fatal(err)
	}
	if got.Content != sum || got.Request.Code != "" {
		t.Errorf("content %q with code %q, want %q and none", got.Content, got.Request.Code, sum)
	}
	if got.Request.Policy != "strict" || string(got.Request.Input) != "1" {
		t.Errorf("policy %q, input %s; want strict and 1", got.Request.Policy, got.Request.Input)
	}
	for _, c := range []struct{ change, to, field string }{
		{`,"function":{"name":"f","version":1}`, "", "content"},
		{sum, strings.ToUpper(sum), "content"},
		{sum, "0a", "content"},
		{`,"content":"` + sum + `"`, "", "code"},
		{`"code":""`, `"code":"","timeout":-1`, "timeout"},
	} {
		_, err := execution.DecodeInvocation([]byte(strings.Replace(string(text), c.change, c.to, 1)))
		var e *execution.Error
		if !errors.As(err, &e) || e.Field != c.field {
			t.Errorf("%q in place of %q: %v, want field %s", c.to, c.change, err, c.field)
		}
	}
}

// What a store holds of a request is the request, however long its sources are and whoever encoded it.
func TestEncodeForStores(t *testing.T) {
	t.Parallel()
	seed := int64(7)
	for name, text := range map[string]string{
		"short": "1", "letters": "aé\u2028😀<&>", "escapes": "\"\\\n\x01/", "mark": `"code":"x"`,
	} {
		for _, times := range []int{1, 4 << 10, 100 << 10} {
			long := strings.Repeat(text, times)
			r := execution.Request{
				Code: long, Files: map[string]execution.File{
					"a.js": execution.File(long), "b": {}, "c": {0xff, 0},
					"long": execution.File(strings.Repeat("\xff"+text, times)),
				},
				Context: map[string]json.RawMessage{"code": []byte(`""`)},
				Policy:  "strict", Args: []string{`"code":`}, Seed: &seed, Limits: execution.Limits{Ticks: 5},
			}
			r.SetInput(json.RawMessage(`{"code":"","files":{"a":""}}`))
			c := execution.FunctionContent{Request: r, Env: map[string]string{"code": long, "x": "}"}, Scopes: []string{"run"}}
			written := func(b []byte, err error) []byte {
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			for _, b := range [][]byte{written(r.Encode()), written(json.Marshal(r))} {
				if got, err := execution.DecodeStored(b); err != nil || !reflect.DeepEqual(got, r) {
					t.Errorf("%s, %d times: %v, %.200v", name, times, err, got)
				}
			}
			for _, b := range [][]byte{written(c.Encode()), written(json.Marshal(c))} {
				if got, err := execution.DecodeContent(b); err != nil || !reflect.DeepEqual(got, c) {
					t.Errorf("content, %s, %d times: %v, %.200v", name, times, err, got)
				}
			}
			var plain execution.Request
			err := json.Unmarshal(written(r.Encode()), &plain)
			if plain.SetInput(plain.Input); err != nil || !reflect.DeepEqual(plain, r) {
				t.Errorf("%s, %d times: encoding/json reads %v, %.200v", name, times, err, plain)
			}
		}
	}
	for _, bad := range []string{"", "[", `{"request":{"code":"` + strings.Repeat("x", 5000)} {
		if _, err := execution.DecodeContent([]byte(bad)); err == nil {
			t.Errorf("%.20s decodes", bad)
		}
	}
}

// A store holds a long input as it is, beside sources of any length.
func TestLongInputsInStores(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{
		"short": `[1]`, "spaces": "[" + strings.Repeat(" 1 ,\n", 20_000) + "1]",
		"text": `"` + strings.Repeat("<é", 100_000) + `"`,
	} {
		for _, code := range []string{"1", strings.Repeat("x", 2<<20)} {
			r := execution.Request{Code: code, Files: map[string]execution.File{"a": execution.File("b")}, Entry: "a"}
			r.SetInput(json.RawMessage(input))
			same := func(got execution.Request, err error) {
				t.Helper()
				if err != nil || string(got.Input) != input {
					t.Errorf("%s, %d bytes of code: %v, or another input", name, len(code), err)
				}
				if got.Code != code || got.Entry != "a" || string(got.Files["a"]) != "b" {
					t.Errorf("%s, %d bytes of code: the sources are others", name, len(code))
				}
			}
			parts, err := r.Stored()
			if err != nil {
				t.Fatal(err)
			}
			got, err := execution.DecodeStored(parts.Bytes())
			same(got, err)
			again, err := got.Stored()
			if err != nil || string(again.Bytes()) != string(parts.Bytes()) {
				t.Errorf("%s, %d bytes of code: it is stored in another way: %v", name, len(code), err)
			}
			if b := parts.Bytes(); len(b) > 100_000 {
				if _, err := execution.DecodeStored(b[:len(b)-1]); err == nil {
					t.Errorf("%s, %d bytes of code: cut off, it decodes", name, len(code))
				}
			}
			parts, err = execution.FunctionContent{Request: r}.Stored()
			if err != nil {
				t.Fatal(err)
			}
			c, err := execution.DecodeContent(parts.Bytes())
			same(c.Request, err)
		}
	}
	// A long input that nobody has checked is stored in the same bytes again.
	r := execution.Request{Code: "1", Input: json.RawMessage("[" + strings.Repeat(" 1,", 100_000) + "1]")}
	parts, err := r.Stored()
	if err != nil {
		t.Fatal(err)
	}
	got, err := execution.DecodeStored(parts.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := got.Stored(); err != nil || string(again.Bytes()) != string(parts.Bytes()) {
		t.Errorf("it is stored in another way: %v", err)
	}
	// A long input that nobody has checked is checked when it is stored.
	bad := execution.Request{Code: "1", Input: json.RawMessage("[" + strings.Repeat("1,", 100_000) + "]")}
	if _, err := bad.Stored(); err == nil {
		t.Error("invalid JSON is stored")
	}
}

// A content has the same name each time, and what is stored under the name of another content does not decode.
func TestNamedContents(t *testing.T) {
	t.Parallel()
	code, input := strings.Repeat("x", 2<<20), json.RawMessage("["+strings.Repeat(" 1,", 100_000)+"1]")
	contents := map[string]execution.FunctionContent{}
	add := func(name, code, file, env string, input json.RawMessage) {
		c := execution.FunctionContent{Env: map[string]string{"A": env}, Request: execution.Request{
			Code: code, Entry: "a", Files: map[string]execution.File{"a": execution.File(file)}, Input: input,
		}}
		c.Sum = c.Request.Sources().Sum()
		contents[name] = c
	}
	add("short", "1", "b", "c", nil)
	add("long", code, "b", "c", nil)
	add("another file", code, "d", "c", nil)
	add("another variable", code, "b", "d", nil)
	add("another input", code, "b", "c", json.RawMessage("1"))
	add("a long input", code, "b", "c", input)
	add("another long input", code, "b", "c", json.RawMessage("[0,"+string(input[1:])))
	add("only a long input", "1", "b", "c", input)

	stored, names := map[string][]byte{}, map[string]string{}
	for title, c := range contents {
		name, parts, err := c.Named()
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := c.Named()
		if err != nil || again != name {
			t.Errorf("%s: %v, and the names are %s and %s", title, err, name, again)
		}
		if other, taken := names[name]; taken {
			t.Errorf("%s and %s have the same name", title, other)
		}
		names[name], stored[name] = title, parts.Bytes()
	}
	shown := func(c execution.FunctionContent) []any { return []any{c.Request.Code, c.Request.Files, c.Env} }
	for name, title := range names {
		for at, body := range stored {
			c, err := execution.DecodeNamed(name, body)
			if at != name {
				if err == nil {
					t.Errorf("%s decodes as %s", names[at], title)
				}
				continue
			}
			want := contents[title]
			if err != nil {
				t.Errorf("%s: %v", title, err)
			}
			if !reflect.DeepEqual(shown(c), shown(want)) {
				t.Errorf("%s: it is another content", title)
			}
			if c.Sum != "" && c.Sum != want.Sum {
				t.Errorf("%s: the sum of the sources is another", title)
			}
		}
	}
	for name, body := range stored {
		for _, at := range []int{0, 5, 9, len(body) / 2, len(body) - 1} {
			bad := append([]byte{}, body...)
			bad[at] ^= 1
			if _, err := execution.DecodeNamed(name, bad); err == nil {
				t.Errorf("%s: with another byte at %d, it decodes", names[name], at)
			}
		}
	}
	// What older versions stored is named by the hash of its bytes.
	c := contents["long"]
	c.Sum = ""
	name, parts, err := c.Named()
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(parts.Bytes()); name != hex.EncodeToString(sum[:]) {
		t.Errorf("without a sum of its sources, the name is %s", name)
	}
	if _, err := execution.DecodeNamed(name, parts.Bytes()); err != nil {
		t.Error(err)
	}
}
