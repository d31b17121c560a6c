//go:build unix

package localinvoke_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
	"github.com/airlock-run/airlock/policy/audit"
)

// taken is a sealed process that an attacker controls: it writes arbitrary bytes to its link and its broker.
type taken struct {
	link, broker net.Conn
	inv          execution.Invocation
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
	r := taken{link: ends[0], broker: ends[1]}
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
		r.answer(r.record())
	}
}

func (r taken) say(kind byte, body ...string) {
	text := strings.Join(body, "")
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(text)))
	if _, err := r.link.Write(append(head, text...)); err != nil {
		os.Exit(0) // the owner has ended the process
	}
}

func (r taken) record() string {
	b, _ := json.Marshal(audit.Record{ID: r.inv.ID, Ending: audit.Ending{Status: "completed"}})
	return string(b)
}

// answer sends a valid answer with these records.
func (r taken) answer(records ...string) {
	res, _ := json.Marshal(execution.Event{Result: &execution.Result{ID: r.inv.ID, Status: execution.Completed}})
	for _, a := range records {
		r.say('a', a)
	}
	r.say('p', string(res), "\n")
	r.say('e', "\x00")
}

func takenActs() map[string]func(taken) {
	return map[string]func(taken){
		"no record":          func(r taken) { r.answer() },
		"two records":        func(r taken) { r.answer(r.record(), r.record()) },
		"another's record":   func(r taken) { r.answer(strings.Replace(r.record(), "exec_0", "exec_1", 1)) },
		"garbage record":     func(r taken) { r.answer("\x00\xff") },
		"huge record":        func(r taken) { r.answer(`{"id":"` + strings.Repeat("x", 9<<20) + `"}`) },
		"many records":       func(r taken) { r.answer(make([]string, 20_000)...) },
		"record after end":   func(r taken) { r.answer(r.record()); r.say('a', r.record()) },
		"end twice":          func(r taken) { r.answer(r.record()); r.say('e', "\x00") },
		"odd end":            func(r taken) { r.say('a', r.record()); r.say('e', "\x07") },
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
		"large and slow to end": func(r taken) {
			memory := make([]byte, 96<<20)
			for i := 0; i < len(memory); i += os.Getpagesize() {
				memory[i] = 1
			}
			for range 60 {
				r.say('p', `{"log":{"level":"log","message":"x"}}`, "\n")
			}
			r.answer(r.record())
			runtime.KeepAlive(memory)
		},
		"huge length":    func(r taken) { _, _ = r.link.Write([]byte("p\xff\xff\xff\xff")); r.wait() },
		"large length":   func(r taken) { _, _ = r.link.Write([]byte("a\x7f\xff\xff\xff")); r.wait() },
		"half a head":    func(r taken) { _, _ = r.link.Write([]byte("p\x00")); os.Exit(0) },
		"closes":         func(r taken) { _ = r.link.Close(); r.wait() },
		"garbage asked":  func(r taken) { _, _ = r.broker.Write([]byte(strings.Repeat("\xff", 64))); r.wait() },
		"garbage answer": func(r taken) { r.say('a', r.record()); r.say('p', "\x00\n"); r.say('e', "\x00") },
	}
}

func (r taken) wait() { untilKilled() }

func takenPool(t *testing.T, s *localinvoke.Sealed) *localinvoke.Pool {
	cfg := config(t)
	cfg.Env, cfg.Sealed = []string{"FUNCTION=taken"}, s
	cfg.Processes, cfg.MaxAnswer, cfg.MaxExecution = 1, 16<<20, 30*time.Second
	return newPool(t, cfg)
}

// Whatever a process that an attacker controls sends, no caller gets a result without its record, and the next
// execution runs.
func TestTakenProcess(t *testing.T) {
	harmless := map[string]bool{"record after end": true, "end twice": true, "large and slow to end": true}
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

// TestKilledProcessGetsNoCall lets a process be killed at a deadline while its answer waits for a slow reader. The
// answer is whole, and the process, which takes a while to end, must not get the next call: that would end as killed at
// its time limit, too.
func TestKilledProcessGetsNoCall(t *testing.T) {
	p := takenPool(t, sealedPool(forgetful{}))
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		began, read, first := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			var once sync.Once
			_, err := p.Invoke(ctx, invocation("taken large and slow to end"), func(execution.Log) {
				once.Do(func() {
					close(began)
					<-read
				})
			})
			first <- err
		}()
		select {
		case <-began:
		case <-ctx.Done(): // the machine is slow: it was killed before its first log
		}
		next := make(chan execution.Reply, 1)
		go func() {
			r, err := p.Invoke(t.Context(), invocation("echo"), nil)
			if err != nil {
				t.Error(err)
			}
			next <- r
		}()
		<-ctx.Done()
		close(read)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if r := <-next; r.Result.Status != execution.Completed {
			t.Fatalf("the next call ended as %s: %s", r.Result.Status, failureOf(r))
		}
	}
}

func failureOf(r execution.Reply) string {
	if r.Result.Error == nil {
		return "no error"
	}
	return *r.Result.Error
}
