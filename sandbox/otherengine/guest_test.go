package otherengine_test

import (
	"bufio"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/otherengine"
)

// patient is a host without a time limit that counts the calls.
type patient struct{ calls int }

func (p *patient) Answer(*otherengine.Guest, quickjs.Args) (quickjs.Value, error) {
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
		"a warning that tells of no memory": {"[4,1]\nFATAL ERROR: heap out of memory\n", 1, otherengine.ErrMemory},
		"half a message":                    {"[4,1]\n[9,\"text.enc", 1, otherengine.ErrEnded},
		"half a message and another":        {"[9,\"text.enc[4,1]\n{\"idle\":1}\n", 0, otherengine.ErrEnded},
		"only warnings":                     {"one\ntwo\n", 0, otherengine.ErrEnded},
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
			_, err := otherengine.NewGuest(conn, host).Step(map[string]string{"do": "start"})
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if host.calls != c.calls {
				t.Errorf("%d calls, want %d", host.calls, c.calls)
			}
		})
	}
}

// late is a host whose limit is reached before the first line is read. It refuses the second call.
type late struct {
	patient
	asked int
}

var errLate = errors.New("a limit")

func (l *late) Answer(in *otherengine.Guest, args quickjs.Args) (quickjs.Value, error) {
	if l.calls == 2 {
		return 0, errLate
	}
	return l.patient.Answer(in, args)
}

func (l *late) InTime() (time.Duration, error) {
	if l.asked++; l.asked <= 2 { // before and after the deadline for writing is set
		return time.Minute, nil
	}
	return 0, errLate
}

// What a guest printed before a limit ended it is read although the limit is noticed first.
func TestPrintedBeforeLimit(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	engine, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if _, err := engine.Write([]byte("[1,1]\na warning\n[1,2]\n[1,3]\n[1,4]\n")); err != nil {
		t.Fatal(err)
	}
	host := &late{}
	_, err = otherengine.NewGuest(conn, host).Step(map[string]string{"do": "start"})
	if !errors.Is(err, errLate) || host.calls != 2 {
		t.Errorf("error %v after %d calls, want %v after 2", err, host.calls, errLate)
	}
}

// A guest has finished in its last step only if the engine says so in that step.
func TestFinishedIsOfTheLastStep(t *testing.T) {
	conn, engine := net.Pipe()
	defer conn.Close()
	go func() {
		defer engine.Close()
		steps := bufio.NewReader(engine)
		for _, says := range []string{"[4,1]\n[5,\"55\"]\n{\"idle\":1,\"finished\":1}\n", "{\"idle\":1}\n"} {
			if _, err := steps.ReadString('\n'); err == nil {
				_, _ = engine.Write([]byte(says)) // the host may have ended
			}
		}
	}()
	guest := otherengine.NewGuest(conn, &patient{})
	for _, want := range []bool{true, false} {
		if _, err := guest.Step(map[string]string{"do": "start"}); err != nil || guest.Finished() != want {
			t.Errorf("finished is %v, want %v; error %v", guest.Finished(), want, err)
		}
	}
}
