package interpreter

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// made makes a session.
type made struct{ Sessions }

func (made) Make(context.Context, api.Submission, api.SessionOptions) (any, error) {
	return map[string]string{"id": "sess_0123456789"}, nil
}

// The tokens of a sandbox are the credential that the request has, and never one that a browser's session stands for.
func TestTokens(t *testing.T) {
	t.Parallel()
	h := &Handlers{Sessions: made{}, Now: time.Now}
	app := fiber.New()
	app.Post("/", h.Credentials, func(c *fiber.Ctx) error { // as package dashboard does for a cookie
		if c.Cookies("session") != "" {
			c.Request().Header.Set(fiber.HeaderAuthorization, "Bearer behind the session")
		}
		return c.Next()
	}, h.Tokens, h.CreateSandbox)
	for header, want := range map[string]string{
		"Authorization: Bearer a": "a", "X-Api-Key: b": "b", "X-Access-Token: c": "c", "Cookie: session=1": "",
	} {
		t.Run(header, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/", strings.NewReader("{}"))
			r.Header.Set("Content-Type", "application/json")
			name, value, _ := strings.Cut(header, ": ")
			r.Header.Set(name, value)
			res, err := app.Test(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var got sandbox
			if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sandbox{
				SandboxID: "sess_0123456789", ClientID: "sess_0123456789", EnvdVersion: envdVersion,
				EnvdAccessToken: want, TrafficAccessToken: want,
			}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each result has the lines that the client of the service reads.
func TestLines(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	const end = `{"type":"end_of_execution"}`
	for _, c := range []struct {
		name string
		r    execution.Result
		want []string
	}{
		{"undefined", execution.Result{Status: execution.Completed, Result: []byte("null")}, []string{end}},
		{"a step", execution.Result{Status: execution.Completed, Result: []byte("1"), Output: "a\nb\n",
			Logs:  []execution.Log{{Level: "log", Message: "a"}, {Level: "warn", Message: "b"}},
			Start: execution.Start{Session: &execution.SessionRef{ID: "s", Step: 3}}},
			[]string{
				`{"type":"number_of_executions","execution_count":3}`,
				`{"type":"stdout","text":"a\n","timestamp":"1970-01-01T00:00:01Z"}`,
				`{"type":"stderr","text":"b\n","timestamp":"1970-01-01T00:00:01Z"}`,
				`{"type":"result","text":"1","is_main_result":true}`, end,
			}},
		{"an object", execution.Result{Status: execution.Completed, Result: []byte(`{"a":1}`)},
			[]string{`{"type":"result","text":"{\"a\":1}","is_main_result":true,"json":{"a":1}}`, end}},
		{"a string", execution.Result{Status: execution.Completed, Result: []byte(`"a \"b\""`)},
			[]string{`{"type":"result","text":"a \"b\"","is_main_result":true}`, end}},
		{"an empty string", execution.Result{Status: execution.Completed, Result: []byte(`""`)},
			[]string{`{"type":"result","text":"","is_main_result":true}`, end}},
		{"an error", execution.Result{Status: execution.Failed, Failure: execution.Failure{Error: text("Error: no"),
			Exception: &execution.Exception{Name: "Error", Message: "no", Stack: "at a"}}},
			[]string{`{"type":"error","name":"Error","value":"no","traceback":"at a"}`, end}},
		{"an error without a text", execution.Result{Status: execution.Failed,
			Failure: execution.Failure{Exception: &execution.Exception{Name: "E"}}},
			[]string{`{"type":"error","name":"E","value":"","traceback":""}`, end}},
		{"a limit", execution.Result{Status: execution.TimedOut,
			Failure: execution.Failure{Error: text("too long"), Limit: text("wall")}},
			[]string{`{"type":"error","name":"LimitError","value":"too long","traceback":""}`, end}},
		{"refused", execution.Result{Status: execution.Blocked, Failure: execution.Failure{Error: text("blocked by policy")}},
			[]string{`{"type":"error","name":"PolicyError","value":"blocked by policy","traceback":""}`, end}},
		{"cancelled", execution.Result{Status: execution.Cancelled},
			[]string{`{"type":"error","name":"ExecutionError","value":"cancelled","traceback":""}`, end}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := outputs(c.r, 0, time.Unix(1, 0))
			if c.r.Session != nil {
				all = append([]output{numberLine(c.r.Session.Step)}, all...)
			}
			body, err := encode(all)
			if diff := cmp.Diff(strings.Join(c.want, "\n")+"\n", string(body)); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	var many []string
	for n := range maxVariables + 1 {
		many = append(many, fmt.Sprintf(`"a%d":""`, n))
	}
	for _, c := range []struct{ given, want, wrong string }{
		{"", "", ""}, {"null", "", ""}, {" {} ", "", ""},
		{`{"A":"b\"c","_1":""}`, `Object.assign(process.env, {"A":"b\"c","_1":""}); `, ""},
		{`[]`, "", "an object of strings"}, {`{"A":1}`, "", "an object of strings"}, {`{"A":null}`, "", "and strings"},
		{`{"a b":"c"}`, "", "got a b"}, {`{"":"c"}`, "", "letters"},
		{`{"A":"` + strings.Repeat("x", 40<<10) + `"}`, "", "32 KiB"},
		{"{" + strings.Join(many, ",") + "}", "", "256 members"},
	} {
		code, err := setVariables("env_vars", json.RawMessage(c.given))
		wrong := ""
		if err != nil {
			wrong = err.Error()
		}
		if code != c.want {
			t.Errorf("%.40s: got %q, want %q", c.given, code, c.want)
		}
		if (wrong == "") != (c.wrong == "") || !strings.Contains(wrong, c.wrong) {
			t.Errorf("%.40s: got the error %q, want %q", c.given, wrong, c.wrong)
		}
	}
}

// A request that is accepted has the code that it names, as TypeScript, and nothing else.
func FuzzReadExecution(f *testing.F) {
	f.Add([]byte(`{"code":"1","context_id":"sess_0123456789","env_vars":{}}`))
	f.Add([]byte(`{"code":"1","Code":"2","language":"ts","x":[{}]}`))
	f.Add([]byte(`{"code":"\ud800","env_vars":null}`))
	f.Add([]byte(`{"code":"1","env_vars":{"A":"</script>","__proto__":"b"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, r, err := readExecution(body)
		if err != nil {
			return
		}
		want := execution.Request{Code: r.Code, Language: "typescript"}
		if diff := cmp.Diff(want, r, cmpopts.IgnoreUnexported(want)); diff != "" {
			t.Error(diff)
		}
	})
}
