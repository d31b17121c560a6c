package execution_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

func TestCheckData(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ name, body, says string }{
		{"short data", `{"input":[1,2,3]}`, ""},
		{"long code", `{"code":"` + long + `"}`, ""},
		{"long files", `{"files":{"a.js":"` + long + `","b.bin":{"base64":"` + long + `"}}}`, ""},
		{"long code with quotes", `{"code":"\"` + long + `\\","input":1}`, ""},
		{"long input", `{"code":"1","input":"` + long + `"}`, "beside the text"},
		{"long context", `{"context":{"code":"` + long + `"}}`, "beside the text"},
		{"long input after code", `{"code":"` + long + `","input":"` + long + `"}`, "beside the text"},
		{"an escaped name", `{"\u0063ode":"` + long + `"}`, ""},
		{"a name in files", `{"files":{"` + long + `":"1"}}`, "beside the text"},
		{"code that is a list", `{"code":[` + strings.Repeat("0,", 300) + `0]}`, "beside the text"},
		{"code that is a list of text", `{"code":["` + long + `"]}`, "beside the text"},
		{"files that nest deeper", `{"files":{"a":{"b":{"c":"` + long + `"}}}}`, "beside the text"},
		{"only spaces", strings.Repeat(" ", 300), "beside the text"},
		{"no end", `{"code":"` + long, ""},
		{"closed too often", `}}}]]]{"code":"` + long + `"}`, "beside the text"},
		{"escapes", `{"code":"` + strings.Repeat(`\n`, 1<<20+1) + `"}`, "backslashes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := execution.CheckData([]byte(c.body), 200)
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var known *execution.Error
			if !errors.As(err, &known) || known.Code != execution.TooLarge || !strings.Contains(known.Message, c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestCheckCall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	call := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":` + arguments + `}}`
	}
	for _, c := range []struct {
		name, body string
		refused    bool
	}{
		{"long code", call(`{"code":"` + long + `"}`), false},
		{"long files", call(`{"files":{"a.js":"` + long + `"}}`), false},
		{"long input", call(`{"code":"1","input":"` + long + `"}`), true},
		{"code outside the arguments", `{"code":"` + long + `"}`, true},
		{"code beside the arguments", `{"params":{"code":"` + long + `"}}`, true},
		{"arguments of something else", `{"meta":{"arguments":{"code":"` + long + `"}}}`, true},
		{"a batch", `[` + call(`{"code":"`+long+`"}`) + `]`, true},
		{"closed too often", `}}}` + call(`{"code":"`+long+`"}`), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := execution.CheckCall([]byte(c.body), 200); (err != nil) != c.refused {
				t.Error(err)
			}
		})
	}
}
