//go:build unix

package localinvoke_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// rogue is a function process that an attacker controls: it speaks the Runtime API by hand and answers an invocation as
// its code "rogue …" says.
type rogue struct {
	base string // http://host:port/e/secret/2018-06-01/runtime
	id   string // of the invocation at hand
	inv  execution.Invocation
}

func runRogue() {
	r := rogue{base: "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime"}
	for {
		resp, err := http.Get(r.base + "/invocation/next")
		if err != nil || resp.StatusCode != http.StatusOK {
			os.Exit(9)
		}
		r.id = resp.Header.Get("Lambda-Runtime-Aws-Request-Id")
		if json.NewDecoder(resp.Body).Decode(&r.inv) != nil {
			os.Exit(8)
		}
		resp.Body.Close()
		if act, ok := acts()[strings.TrimPrefix(r.inv.Request.Code, "rogue ")]; ok {
			act(r)
		} else {
			r.answer(r.good())
		}
	}
}

// acts returns the actions of a rogue.
func acts() map[string]func(rogue) {
	return map[string]func(rogue){
		"garbage":       func(r rogue) { r.answer("\x00\xff\n") },
		"silence":       func(r rogue) { r.answer("") },
		"half a line":   func(r rogue) { r.answer(strings.TrimSpace(r.good())[:20]) },
		"two results":   func(r rogue) { r.answer(r.good() + r.good()) },
		"log after end": func(r rogue) { r.answer(r.good() + `{"log":{"level":"log","message":"x"}}` + "\n") },
		"empty event":   func(r rogue) { r.answer("{}\n" + r.good()) },
		"both at once":  func(r rogue) { r.answer(strings.Replace(r.good(), "{", `{"error":{"code":"internal"},`, 1)) },
		"another's id":  func(r rogue) { r.inv.ID = "exec_9999999999"; r.answer(r.good()) },
		"odd status":    func(r rogue) { r.answer(strings.Replace(r.good(), "completed", "running", 1)) },
		"odd error":     func(r rogue) { r.answer(`{"error":{"code":"root","message":"/etc/passwd"}}` + "\n") },
		"many logs": func(r rogue) {
			r.answer(strings.Repeat(`{"log":{"level":"log","message":"x"}}`+"\n", 10_002) + r.good())
		},
		"endless":   func(r rogue) { r.post("/invocation/"+r.id+"/response", endless{}) },
		"long line": func(r rogue) { r.answer(`{"log":{"level":"` + strings.Repeat("x", 3<<20)) },
		"wrong request": func(r rogue) {
			r.post("/invocation/other/response",
				strings.NewReader(r.good()))
			r.answer(r.good())
		},
		"wrong process":         func(r rogue) { r.elsewhere(); r.answer(r.good()) },
		"asks for no more":      func(r rogue) { r.answer(r.good()); untilKilled() },
		"answers twice":         func(r rogue) { r.answer(r.good()); r.answer(r.good()) },
		"asks too early":        func(r rogue) { http.Get(r.base + "/invocation/next"); r.answer(r.good()) }, // refused
		"asks while it answers": func(r rogue) { r.early() },
		"inits late":            func(r rogue) { r.post("/init/error", strings.NewReader("{}")); r.answer(r.good()) },
		"error twice": func(r rogue) {
			r.post("/invocation/"+r.id+"/error", strings.NewReader(`{"errorType":"internal","errorMessage":"secret"}`))
			r.post("/invocation/"+r.id+"/error", strings.NewReader(`{}`))
		},
		"large error": func(r rogue) { r.post("/invocation/"+r.id+"/error", io.LimitReader(endless{}, 3<<20)) },
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func (r rogue) good() string {
	res, _ := json.Marshal(execution.Event{Result: &execution.Result{ID: r.inv.ID, Status: execution.Completed}})
	return string(res) + "\n"
}

func (r rogue) answer(body string) {
	r.post("/invocation/"+r.id+"/response", strings.NewReader(body))
}

func (r rogue) post(path string, body io.Reader) {
	resp, err := http.Post(r.base+path, "application/json", io.NopCloser(body))
	if err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// elsewhere answers under a guessed address of another process.
func (r rogue) elsewhere() {
	at := strings.LastIndex(r.base, "/e/")
	r.base = r.base[:at] + "/e/" + strings.Repeat("0", 32) + "/2018-06-01/runtime"
	r.answer("{}")
}

func TestRogueFunction(t *testing.T) {
	cfg := config(t)
	cfg.Env = []string{"FUNCTION=rogue"}
	cfg.Processes, cfg.MaxAnswer, cfg.MaxExecution, cfg.Grace = 1, 2<<20, 30*time.Second, 100*time.Millisecond
	cfg.StartTimeout, cfg.Heartbeat = 3*time.Second, 10*time.Millisecond
	p := newPool(t, cfg)
	harmless := map[string]bool{
		"wrong request": true, "wrong process": true, "answers twice": true, "asks too early": true,
		"asks while it answers": true, "inits late": true,
		"asks for no more": true,
	}
	for act := range acts() {
		t.Run(act, func(t *testing.T) {
			r, err := p.Invoke(t.Context(), invocation("rogue "+act), nil)
			var e *execution.Error
			switch {
			case harmless[act]:
				if err != nil || r.Result.Status != execution.Completed {
					t.Errorf("%s, %v", r.Result.Status, err)
				}
			case !errors.As(err, &e):
				t.Errorf("was believed: %+v, %v", r, err)
			case act == "endless" || act == "long line":
				if e.Code != execution.TooLarge {
					t.Errorf("gave %v", e)
				}
			case e.Code != execution.Internal || strings.Contains(e.Message, "secret") || strings.Contains(e.Message, "passwd"):
				t.Errorf("gave %v: %q", e.Code, e.Message)
			}
			if r, err := p.Invoke(t.Context(), invocation("echo"), nil); err != nil || r.Result.Status != execution.Completed {
				t.Errorf("afterwards: %s, %v", r.Result.Status, err)
			}
		})
	}
}

func TestUnknownAddresses(t *testing.T) {
	p := newPool(t, config(t))
	for _, path := range []string{
		"/", "/2018-06-01/runtime/invocation/next", "/e//2018-06-01/runtime/invocation/next",
		"/e/" + strings.Repeat("0", 32) + "/2018-06-01/runtime/invocation/next",
		"/2015-03-31/functions/airlock/invocations",
	} {
		resp, err := http.Get("http://" + p.Addr() + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// early begins its answer, asks for more work, and then ends the answer.
func (r rogue) early() {
	body, out := io.Pipe()
	go func() {
		io.WriteString(out, `{"log":{"level":"log","message":"x"}}`+"\n")
		resp, err := http.Get(r.base + "/invocation/next")
		if err == nil {
			resp.Body.Close()
		}
		if err != nil || resp.StatusCode != http.StatusForbidden {
			os.Exit(7)
		}
		io.WriteString(out, r.good())
		out.Close()
	}()
	r.post("/invocation/"+r.id+"/response", body)
}
