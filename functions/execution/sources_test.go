package execution_test

import (
	"encoding/json"
	"errors"
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
