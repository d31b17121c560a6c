package foreign_test

import (
	"bufio"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox/foreign"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// patient is a host that has time and counts the calls.
type patient struct{ calls int }

func (p *patient) Answer(*foreign.Guest, quickjs.Args) (quickjs.Value, error) {
	p.calls++
	return quickjs.Undefined, nil
}

func (p *patient) InTime() (time.Duration, error) { return time.Minute, nil }

// Engines print warnings on the socket, such as exceptions of their hooks at the end of the stack. A line that is no
// message does not take the next message with it, and an engine that ends in a message ends the step at once.
func TestLinesThatAreNoMessages(t *testing.T) {
	for name, c := range map[string]struct {
		says  string
		calls int
		want  error
	}{
		"a warning before a call":           {"Exception in a hook:\n\nx.js:5\n[4,1]\n{\"idle\":1}\n", 1, nil},
		"a warning before the end":          {"[4,1]\nRangeError: Maximum call stack size exceeded\n{\"idle\":1}\n", 1, nil},
		"a warning that tells of no memory": {"[4,1]\nFATAL ERROR: heap out of memory\n", 1, foreign.ErrMemory},
		"half a message":                    {"[4,1]\n[9,\"text.enc", 1, foreign.ErrEnded},
		"half a message and another":        {"[9,\"text.enc[4,1]\n{\"idle\":1}\n", 0, foreign.ErrEnded},
		"only warnings":                     {"one\ntwo\n", 0, foreign.ErrEnded},
	} {
		t.Run(name, func(t *testing.T) {
			conn, engine := net.Pipe()
			defer conn.Close()
			go func() {
				defer engine.Close()
				if _, err := bufio.NewReader(engine).ReadString('\n'); err == nil {
					_, _ = engine.Write([]byte(c.says)) // the host may have ended
				}
			}()
			host := &patient{}
			_, err := foreign.NewGuest(conn, host).Step(map[string]string{"do": "start"})
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if host.calls != c.calls {
				t.Errorf("%d calls, want %d", host.calls, c.calls)
			}
		})
	}
}
