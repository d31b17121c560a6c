//go:build unix

package localinvoke_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
	"github.com/airlock-run/airlock/policy/audit"
)

// taken is a sealed process that has been taken over: it writes what it likes to its link and its counter.
type taken struct {
	link, counter net.Conn
	inv           execution.Invocation
}

func beTaken() {
	var ends [2]net.Conn
	for i := range ends {
		f := os.NewFile(uintptr(3+i), "")
		c, err := net.FileConn(f)
		if err != nil || f.Close() != nil {
			os.Exit(9)
		}
		ends[i] = c
	}
	r := taken{link: ends[0], counter: ends[1]}
	r.say('r')
	for in := bufio.NewReader(r.link); ; {
		_, n, err := sealed.Head(in)
		if err != nil {
			os.Exit(0)
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(in, body); err != nil {
			os.Exit(0)
		}
		// What precedes the payload is binary and may hold a brace.
		start := max(bytes.Index(body, []byte(`{"airlock":`)), 0)
		if json.Unmarshal(body[start:], &r.inv) != nil {
			os.Exit(8)
		}
		if act, ok := takenActs()[strings.TrimPrefix(r.inv.Request.Code, "taken ")]; ok {
			act(r)
			continue
		}
		r.answer(r.account())
	}
}

func (r taken) say(kind byte, body ...string) {
	text := strings.Join(body, "")
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(text)))
	if _, err := r.link.Write(append(head, text...)); err != nil {
		os.Exit(0) // the owner has had enough
	}
}

func (r taken) account() string {
	b, _ := json.Marshal(audit.Record{ID: r.inv.ID, Status: "completed"})
	return string(b)
}

// answer answers well, with these accounts.
func (r taken) answer(accounts ...string) {
	res, _ := json.Marshal(execution.Event{Result: &execution.Result{ID: r.inv.ID, Status: execution.Completed}})
	for _, a := range accounts {
		r.say('a', a)
	}
	r.say('p', string(res), "\n")
	r.say('e', "\x00")
}

func takenActs() map[string]func(taken) {
	return map[string]func(taken){
		"no account":         func(r taken) { r.answer() },
		"two accounts":       func(r taken) { r.answer(r.account(), r.account()) },
		"another's account":  func(r taken) { r.answer(strings.Replace(r.account(), "exec_0", "exec_1", 1)) },
		"garbage account":    func(r taken) { r.answer("\x00\xff") },
		"huge account":       func(r taken) { r.answer(`{"id":"` + strings.Repeat("x", 9<<20) + `"}`) },
		"many accounts":      func(r taken) { r.answer(make([]string, 20_000)...) },
		"account after end":  func(r taken) { r.answer(r.account()); r.say('a', r.account()) },
		"end twice":          func(r taken) { r.answer(r.account()); r.say('e', "\x00") },
		"odd end":            func(r taken) { r.say('a', r.account()); r.say('e', "\x07") },
		"empty end":          func(r taken) { r.say('e') },
		"odd failure":        func(r taken) { r.say('f', "\x00{}") },
		"failure of its own": func(r taken) { r.say('f', "\x00", `{"errorType":"root","errorMessage":"/etc/passwd"}`) },
		"ready again":        func(r taken) { r.say('r') },
		"ready with a body":  func(r taken) { r.say('r', "x") },
		"unknown kind":       func(r taken) { r.say('z', "x") },
		"the owner's kind":   func(r taken) { r.say('i', "x") },
		"endless parts": func(r taken) {
			for {
				r.say('p', strings.Repeat("x", 64<<10))
			}
		},
		"huge length":    func(r taken) { _, _ = r.link.Write([]byte("p\xff\xff\xff\xff")); r.wait() },
		"large length":   func(r taken) { _, _ = r.link.Write([]byte("a\x7f\xff\xff\xff")); r.wait() },
		"half a head":    func(r taken) { _, _ = r.link.Write([]byte("p\x00")); os.Exit(0) },
		"closes":         func(r taken) { _ = r.link.Close(); r.wait() },
		"garbage asked":  func(r taken) { _, _ = r.counter.Write([]byte(strings.Repeat("\xff", 64))); r.wait() },
		"garbage answer": func(r taken) { r.say('a', r.account()); r.say('p', "\x00\n"); r.say('e', "\x00") },
	}
}

func (r taken) wait() { untilKilled() }

func takenPool(t *testing.T, s *localinvoke.Sealed) *localinvoke.Pool {
	cfg := config(t)
	cfg.Env, cfg.Sealed = []string{"FUNCTION=taken"}, s
	cfg.Processes, cfg.MaxAnswer, cfg.MaxExecution = 1, 16<<20, 30*time.Second
	return newPool(t, cfg)
}

// Whatever a process that was taken over sends, nobody is given a result without its record, and the next execution
// runs.
func TestTakenProcess(t *testing.T) {
	harmless := map[string]bool{"account after end": true, "end twice": true}
	for act := range takenActs() {
		t.Run(act, func(t *testing.T) {
			store := &shelf{}
			p := takenPool(t, sealedPool(store))
			r, err := p.Invoke(t.Context(), invocation("taken "+act), nil)
			var e *execution.Error
			switch recorded := len(store.all()); {
			case harmless[act]:
				if err != nil || !r.Recorded || recorded != 1 {
					t.Errorf("%d records, %s, %+v, recorded %t, %v", recorded, r.Result.Status, failureOf(r), r.Recorded, err)
				}
			case err == nil && r.Recorded:
				t.Errorf("was believed: %+v", r)
			case err == nil && r.Result.Status != execution.Failed:
				t.Errorf("came to %s", r.Result.Status)
			case errors.As(err, &e) && (strings.Contains(e.Message, "passwd") || e.Code == execution.Unrecorded):
				t.Errorf("gave %v", e)
			}
			r, err = p.Invoke(t.Context(), invocation("echo"), nil)
			if harmless[act] && (err != nil || r.Result.Status == execution.Failed) {
				// The late message spoiled this execution's answer, which was refused, and the process was replaced.
				r, err = p.Invoke(t.Context(), invocation("echo"), nil)
			}
			if err != nil || r.Result.Status != execution.Completed || !r.Recorded {
				t.Errorf("afterwards: %s, %+v, recorded %t, %v", r.Result.Status, failureOf(r), r.Recorded, err)
			}
		})
	}
}

func failureOf(r execution.Reply) string {
	if r.Result.Error == nil {
		return "no error"
	}
	return *r.Result.Error
}
