package piston

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
)

func tierOf(name string) (policy.Tier, bool) {
	for _, t := range policy.Builtin() {
		if t.Name == name {
			return t, true
		}
	}
	return policy.Tier{}, false
}

func read(body string) (execution.Request, error) {
	h := &Handlers{Tier: tierOf}
	p, err := h.read([]byte(body))
	return p.request, err
}

// A request of Piston becomes the execution request that does the same.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"the least", `{"language":"js","version":"*","files":[{"content":"1"}]}`,
			`{"code":"","language":"javascript","input":"\n","files":{"file0.code":"1"},"entry":"file0.code"}`},
		{"an alias and a range", `{"language":"ts","version":">=5 <6","files":[{"name":"a.ts","content":"1"}]}`,
			`{"code":"","language":"typescript","input":"\n","files":{"a.ts":"1"},"entry":"a.ts"}`},
		{"a version of the public instance", `{"language":"javascript","version":"18.15.0","files":[{"content":"1"}]}`,
			`{"code":"","language":"javascript","input":"\n","files":{"file0.code":"1"},"entry":"file0.code"}`},
		{"a range of such versions", `{"language":"ts","version":"~5.0","files":[{"content":"1"}]}`,
			`{"code":"","language":"typescript","input":"\n","files":{"file0.code":"1"},"entry":"file0.code"}`},
		{"unknown members", `{"language":"js","version":"22.x","files":[{"content":"1","x":1}],"y":2}`,
			`{"code":"","language":"javascript","input":"\n","files":{"file0.code":"1"},"entry":"file0.code"}`},
		{"stdin and args", `{"language":"js","version":"*","files":[{"content":"1"}],"stdin":"a","args":["b",""]}`,
			`{"code":"","language":"javascript","input":"a\n","args":["b",""],"files":{"file0.code":"1"},"entry":"file0.code"}`},
		{"a newline at the end", `{"language":"js","version":"*","files":[{"content":"1"}],"stdin":"a\n"}`,
			`{"code":"","language":"javascript","input":"a\n","files":{"file0.code":"1"},"entry":"file0.code"}`},
		{"encodings", `{"language":"js","version":"*","files":[{"content":"/w==","encoding":"base64"},` +
			`{"name":"h","content":"6869","encoding":"hex"},{"name":"./m.js","content":"1","encoding":"latin1"}]}`,
			`{"code":"","language":"javascript","input":"\n","files":{"file0.code":{"base64":"/w=="},"h":"hi","m.js":"1"},` +
				`"entry":"m.js"}`},
		{"limits", `{"language":"js","version":"*","files":[{"content":"1"}],"run_timeout":300,"run_memory_limit":1e7,` +
			`"run_cpu_time":200,"compile_timeout":1e9,"compile_memory_limit":-1}`,
			`{"code":"","language":"javascript","timeout":300,"memory":"10000000b","input":"\n","limits":{"cpuMs":200},` +
				`"files":{"file0.code":"1"},"entry":"file0.code"}`},
		{"limits of the tier", `{"language":"js","version":"*","files":[{"content":"1"}],"run_timeout":0,` +
			`"run_memory_limit":-1}`,
			`{"code":"","language":"javascript","input":"\n","files":{"file0.code":"1"},"entry":"file0.code"}`},
		{"a tier", `{"language":"js","version":"*","files":[{"content":"1"}],"policy":"agent","run_timeout":60000}`,
			`{"code":"","language":"javascript","policy":"agent","timeout":60000,"input":"\n",` +
				`"files":{"file0.code":"1"},"entry":"file0.code"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(c.body)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(got)
			if diff := cmp.Diff(c.want, string(text)); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

// What Piston refuses is refused with its sentence.
func TestRefusals(t *testing.T) {
	t.Parallel()
	with := func(member string) string {
		return `{"language":"js","version":"*","files":[{"content":"1"}],` + member + `}`
	}
	for _, c := range []struct{ name, body, want string }{
		{"no language", `{}`, "language is required as a string"},
		{"a number", `{"language":1,"version":"*","files":[]}`, "language is required as a string"},
		{"no version", `{"language":"js"}`, "version is required as a string"},
		{"no files", `{"language":"js","version":"*"}`, "files is required as an array"},
		{"null", `{"language":"js","version":"*","files":null}`, "files is required as an array"},
		{"no content", `{"language":"js","version":"*","files":[{"content":"1"},{}]}`,
			"files[1].content is required as a string"},
		{"another language", `{"language":"python","version":"3.10","files":[]}`, "python-3.10 runtime is unknown"},
		{"another version", `{"language":"js","version":"17.0.0","files":[]}`, "js-17.0.0 runtime is unknown"},
		{"a later version", `{"language":"js","version":">22","files":[]}`, "js->22 runtime is unknown"},
		{"a version of another language", `{"language":"ts","version":"18.15.0","files":[]}`,
			"ts-18.15.0 runtime is unknown"},
		{"no selector", `{"language":"js","version":"new","files":[]}`, "js-new runtime is unknown"},
		{"no text", `{"language":"js","version":"*","files":[{"content":"","encoding":"hex"}]}`,
			"files must include at least one utf8 encoded file"},
		{"a limit", with(`"run_timeout":15001`), "run_timeout cannot exceed the configured limit of 15000"},
		{"a negative limit", with(`"run_timeout":-1`), "run_timeout must be non-negative"},
		{"a limit that is text", with(`"compile_timeout":"1"`), "If specified, compile_timeout must be a number"},
		{"memory", with(`"run_memory_limit":1e12`), "run_memory_limit cannot exceed the configured limit of 67108864"},
		{"stdin", with(`"stdin":1`),
			"a member has the wrong type: stdin and policy are strings, args is an array of strings"},
		{"a path", `{"language":"js","version":"*","files":[{"name":"a/../../b","content":"1"}]}`,
			`File path "a/../../b" tries to escape parent directory`},
		{"base64", `{"language":"js","version":"*","files":[{"content":"%","encoding":"base64"}]}`,
			"files[0].content is not valid base64"},
		{"a name in other letters", `{"language":"js","version":"*","Files":[{"content":"1"}]}`,
			"files is required as an array"},
		{"a member of a file in other letters", `{"language":"js","version":"*","files":[{"Content":"1"}]}`,
			"files[0].content is required as a string"},
		{"a long selector", `{"language":"js","version":"` + strings.Repeat("*||", 40) + `","files":[]}`,
			"js-" + strings.Repeat("*||", 13) + "*… runtime is unknown"},
		{"a number beyond all", with(`"run_timeout":1e999`), "If specified, run_timeout must be a number"},
		{"a lone surrogate", with(`"stdin":"\ud800"`),
			"stdin: the body is not valid JSON: invalid surrogate pair `\\ud800\"}` in string (byte 66)"},
		{"a NUL in a path", `{"language":"js","version":"*","files":[{"name":"a\u0000b","content":"1"}]}`,
			`files: "a\x00b" is not a plain relative path of at most 255 bytes, such as lib/util.js`},
		{"a backslash in a path", `{"language":"js","version":"*","files":[{"name":"..\\b","content":"1"}]}`,
			`files: "..\\b" is not a plain relative path of at most 255 bytes, such as lib/util.js`},
		{"a folder that is a file",
			`{"language":"js","version":"*","files":[{"name":"a","content":"1"},{"name":"a/b","content":"1"}]}`,
			`files: "a" is given as a file and as a folder`},
		{"an empty program", `{"language":"js","version":"*","files":[{"content":""}]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := read(c.body); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestStages(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		name string
		r    execution.Result
		want string
	}{
		{"completed", execution.Result{Status: execution.Completed, Output: "a\nb\n",
			Logs: []execution.Log{{Level: "log", Message: "a"}, {Level: "error", Message: "b"}}},
			`{"signal":null,"stdout":"a\n","stderr":"b\n","code":0,"output":"a\nb\n","message":null,"status":null}`},
		{"thrown", execution.Result{Status: execution.Failed, Failure: execution.Failure{Error: text("TypeError: x"),
			Exception: &execution.Exception{Name: "TypeError", Message: "x", Stack: "    at a"}}},
			`{"signal":null,"stdout":"","stderr":"TypeError: x\n    at a\n","code":1,"output":"TypeError: x\n    at a\n",` +
				`"message":"Exited with error status 1","status":"RE"}`},
		{"exit", execution.Result{Status: execution.Failed,
			Failure: execution.Failure{Error: text("the code called process.exit(-1)"), ExitCode: -1}},
			`{"signal":null,"stdout":"","stderr":"","code":255,"output":"","message":"Exited with error status 255",` +
				`"status":"RE"}`},
		{"an exit code that was only set", execution.Result{Status: execution.Completed,
			Failure: execution.Failure{ExitCode: 3}},
			`{"signal":null,"stdout":"","stderr":"","code":3,"output":"","message":"Exited with error status 3",` +
				`"status":"RE"}`},
		{"a text that looks like an exit", execution.Result{Status: execution.Failed,
			Failure: execution.Failure{Error: text("the code called process.exit(0)"),
				Exception: &execution.Exception{Message: "the code called process.exit(0)"}}},
			`{"signal":null,"stdout":"","stderr":"the code called process.exit(0)\n","code":1,` +
				`"output":"the code called process.exit(0)\n","message":"Exited with error status 1","status":"RE"}`},
		{"time", execution.Result{Status: execution.TimedOut, Failure: execution.Failure{Limit: text(execution.LimitWall)}},
			`{"signal":"SIGKILL","stdout":"","stderr":"","code":null,"output":"","message":"Time limit exceeded",` +
				`"status":"TO"}`},
		{"output", execution.Result{Status: execution.Failed, Failure: execution.Failure{Limit: text(execution.LimitOutput)}},
			`{"signal":"SIGKILL","stdout":"","stderr":"","code":null,"output":"","message":"stdout length exceeded",` +
				`"status":"OL"}`},
		{"memory", execution.Result{Status: execution.Failed, Failure: execution.Failure{Limit: text(execution.LimitMemory)}},
			`{"signal":"SIGKILL","stdout":"","stderr":"","code":null,"output":"","message":"Caught fatal signal 9",` +
				`"status":"SG"}`},
		{"calls", execution.Result{Status: execution.Failed,
			Failure: execution.Failure{Limit: text(execution.LimitAPICalls), Error: text("too many")}},
			`{"signal":null,"stdout":"","stderr":"too many\n","code":1,"output":"too many\n",` +
				`"message":"Exited with error status 1","status":"RE"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(stageOf(c.r))
			if err != nil {
				t.Fatal(err)
			}
			line := strings.NewReplacer(`"memory":0,`, "", `,"cpu_time":0,"wall_time":0`, "").Replace(string(got))
			if diff := cmp.Diff(c.want, line); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A request that is accepted obeys the rules of every other one, and its files stay in the folder of the execution.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"language":"js","version":"*","files":[{"name":"a/../b.js","content":"1"}],"run_timeout":1.5}`))
	f.Add([]byte(`{"language":"ts","version":">=5","files":[{"content":"1"},` +
		`{"name":"a","content":"00","encoding":"hex"}]}`))
	f.Add([]byte(`{"language":"js","version":"*","files":[{"content":"1"}],"stdin":"\ud800",` +
		`"args":["a"],"policy":"agent"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := read(string(body))
		if err != nil {
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := execution.DecodeRequest(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(r, again, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(r)); diff != "" {
			t.Error(diff)
		}
		if _, ok := r.Files[r.Entry]; !ok {
			t.Errorf("%q is not among the files", r.Entry)
		}
		for name := range r.Files {
			if !filepath.IsLocal(name) {
				t.Errorf("%q leaves the folder", name)
			}
		}
	})
}
