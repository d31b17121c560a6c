//go:build unix

package localinvoke_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
)

// asks runs one command of a sealed process that asks its broker. "connect HOST PORT" returns what the other side
// sends, "leave HOST PORT" stops waiting for a connection once it was asked for, "secret NAME" returns a secret,
// "secrets N" returns how many of N requests were granted, and "tool NAME PARAMS" returns the answer to a call.
func asks(ctx context.Context, outside *sealed.Outside, code string) (json.RawMessage, bool) {
	words := strings.Fields(code)
	text := func(s string) (json.RawMessage, bool) {
		b, err := json.Marshal(s)
		return b, err == nil
	}
	switch {
	case len(words) == 3 && (words[0] == "connect" || words[0] == "leave"):
		port, err := strconv.ParseUint(words[2], 10, 16)
		if err != nil {
			return nil, false
		}
		if words[0] == "leave" {
			waiting, stopWaiting := context.WithCancel(ctx)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = outside.Connect(waiting, words[1], uint16(port))
			}()
			outside.Secret("BEGUN") // returns when the connection has been asked for
			stopWaiting()
			<-ended
			return text("left")
		}
		c, err := outside.Connect(ctx, words[1], uint16(port))
		if err != nil {
			return text("error: " + err.Error())
		}
		defer c.Close()
		said, err := io.ReadAll(c)
		if err != nil {
			return text("error: " + err.Error())
		}
		return text(string(said))
	case len(words) == 3 && words[0] == "tool":
		value, err := outside.CallTool(ctx, words[1], json.RawMessage(words[2]))
		if err != nil {
			return text("error: " + err.Error())
		}
		return value, true
	case len(words) == 2 && words[0] == "secret":
		return text(outside.Secret(words[1]))
	case len(words) == 2 && words[0] == "secrets":
		n, granted := 0, 0
		for n, _ = strconv.Atoi(words[1]); n > 0; n-- {
			if outside.Secret("MINE") != "" {
				granted++
			}
		}
		return text(strconv.Itoa(granted))
	}
	return nil, false
}

// reach holds the powers of one subject's executions.
type reach struct {
	server  net.Addr
	began   chan struct{} // closed when a connection is asked for that is made only after its execution has ended
	late    atomic.Bool   // that connection was closed
	endings chan struct{}
}

func (r *reach) Begin(inv execution.Invocation) localinvoke.Access {
	if inv.Caller.Subject == "nobody" {
		return nil
	}
	return access{r, inv.Caller.Subject}
}

type access struct {
	*reach
	subject string
}

type refusal string

func (e refusal) Error() string { return string(e) }
func (e refusal) Refused() bool { return true }

func (a access) Connect(ctx context.Context, host string, _ uint16) (net.Conn, error) {
	switch host {
	case "granted":
		return (&net.Dialer{}).DialContext(ctx, "tcp", a.server.String())
	case "refused":
		return nil, refusal("the host refused is not among them")
	case "silent":
		return nil, syscall.ECONNREFUSED
	case "late":
		close(a.began)
		<-ctx.Done()
		c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", a.server.String())
		if err != nil {
			close(a.endings)
			return nil, err
		}
		return &watched{c.(*net.TCPConn), a.reach}, nil
	}
	return nil, errors.New("dial tcp 192.0.2.7: something of this machine")
}

func (a access) Tool(name string) bool { return name != "denied:tool" }

func (a access) Engine() (string, int64) { return "", 0 }

func (a access) Secret(name string) (string, bool) {
	if name == "BEGUN" {
		<-a.began
		return "", false
	}
	return "of " + a.subject, name == "MINE"
}

// watched is a connection that signals its close.
type watched struct {
	*net.TCPConn
	reach *reach
}

func (w *watched) Close() error {
	w.reach.late.Store(true)
	close(w.reach.endings)
	return w.TCPConn.Close()
}

func TestBroker(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "hello from outside")
			_ = c.Close()
		}
	}()
	outside := &reach{server: server.Addr(), began: make(chan struct{}), endings: make(chan struct{})}
	cfg := config(t)
	cfg.Env, cfg.Processes = []string{"FUNCTION=sealed"}, 1
	cfg.Sealed = &localinvoke.Sealed{Records: forgetful{}, Outside: outside, MaxRequests: 3}
	p := newPool(t, cfg)
	for _, c := range []struct{ what, subject, code, want string }{
		{"a granted host", "alice", "connect granted 80", "hello from outside"},
		{"a refused host", "alice", "connect refused 80", "error: the host refused is not among them"},
		{"a host that refuses", "alice", "connect silent 80", "error: connection refused"},
		{"a broken network", "alice", "connect broken 80", "error: the connection failed"},
		{"a secret", "alice", "secret MINE", "of alice"},
		{"the same secret, for another", "bob", "secret MINE", "of bob"},
		{"another secret", "alice", "secret OTHER", ""},
		{"nothing is granted", "nobody", "connect granted 80", "error: the execution was not granted this"},
		{"no secret is granted", "nobody", "secret MINE", ""},
		{"too many requests", "alice", "secrets 5", "3"},
		{"and none too many after them", "alice", "secrets 2", "2"},
	} {
		inv := invocation(c.code)
		inv.Caller.Subject = c.subject
		r, err := p.Invoke(t.Context(), inv, nil)
		var got string
		if err == nil {
			err = json.Unmarshal(r.Result.Result, &got)
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.what, got, err, c.want)
		}
	}
	// A connection that is made when its execution has ended is closed, and not handed to the next.
	if _, err := p.Invoke(t.Context(), invocation("leave late 80"), nil); err != nil {
		t.Fatal(err)
	}
	<-outside.endings
	if r, err := p.Invoke(t.Context(), invocation("connect granted 80"), nil); err != nil ||
		string(r.Result.Result) != `"hello from outside"` || !outside.late.Load() {
		t.Errorf("afterwards: %s, %v", r.Result.Result, err)
	}
	if restarts := p.Stats().Processes[0].Restarts; restarts != 0 {
		t.Errorf("the process was started again %d times", restarts)
	}
}

// A process calls the tools that its execution brought and was granted, and no others.
func TestCallerTools(t *testing.T) {
	cfg := config(t)
	cfg.Env, cfg.Processes = []string{"FUNCTION=sealed"}, 1
	cfg.Sealed = &localinvoke.Sealed{Records: forgetful{}, Outside: &reach{}}
	p := newPool(t, cfg)
	gone := make(chan error, 1)
	call := func(ctx context.Context, tool string, params json.RawMessage) (json.RawMessage, error) {
		switch string(params) {
		case "fail":
			return nil, errors.New("no such customer " + strings.Repeat("x", 1<<20))
		case "huge":
			return json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`), nil
		case "never":
			<-ctx.Done()
			gone <- ctx.Err()
			return nil, ctx.Err()
		}
		return json.RawMessage(`"` + tool + ` ` + string(params) + `"`), nil
	}
	tools := []execution.Tool{{Name: "crm:find", Via: execution.ToolOfCaller}, {Name: "crm:url"},
		{Name: "denied:tool", Via: execution.ToolOfCaller}}
	const refused = "error: the execution was not granted this"
	for _, c := range []struct {
		what, code, want string
		call             execution.CallTool
	}{
		{"a tool of the caller", "tool crm:find 1", "crm:find 1", call},
		{"another name", "tool crm:drop 1", refused, call},
		{"a tool with a url", "tool crm:url 1", refused, call},
		{"a tool that the policy denies", "tool denied:tool 1", refused, call},
		{"no caller", "tool crm:find 1", refused, nil},
		{"an error", "tool crm:find fail", "error: no such customer xxx", call},
		{"a huge answer", "tool crm:find huge", "error: the answer has 5242882 bytes", call},
	} {
		inv := invocation(c.code)
		inv.Request.Tools, inv.CallTool = tools, c.call
		r, err := p.Invoke(t.Context(), inv, nil)
		var got string
		if err == nil {
			err = json.Unmarshal(r.Result.Result, &got)
		}
		if err != nil || !strings.HasPrefix(got, c.want) || len(got) > 5000 {
			t.Errorf("%s: %.100q, %v; want %q", c.what, got, err, c.want)
		}
	}
	// A caller who gives up ends the call.
	ctx, giveUp := context.WithCancel(t.Context())
	inv := invocation("tool crm:find never")
	inv.Request.Tools, inv.CallTool = tools, func(ctx context.Context, tool string, params json.RawMessage) (
		json.RawMessage, error,
	) {
		giveUp()
		return call(ctx, tool, params)
	}
	if _, err := p.Invoke(ctx, inv, nil); err != nil {
		t.Error(err)
	}
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
