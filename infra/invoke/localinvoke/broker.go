package localinvoke

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/engines"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
)

// Outside decides what executions may reach outside their process. It is safe for concurrent use.
type Outside interface {
	// Begin returns what one execution may reach. It is called at most once per execution, at its first request, and
	// decides by inv alone, which is the invocation that the process received.
	Begin(inv execution.Invocation) Access
}

// Access is the set of powers of one execution. It is safe for concurrent use.
type Access interface {
	// Connect connects to a host and port. If the rules refuse, the error has a method Refused that returns true, and
	// its text is for guests.
	Connect(ctx context.Context, host string, port uint16) (net.Conn, error)
	// Secret returns the value of a granted secret; ok is false for any other.
	Secret(name string) (value string, ok bool)
	// Tool reports whether the execution may call a tool.
	Tool(name string) bool
	// Engine returns the engine that the execution runs on, and the memory that it may have; "" is QuickJS.
	Engine() (name string, memoryBytes int64)
}

// Engines lends processes of other engines.
type Engines interface {
	// Lend returns a process and the build of its engine.
	Lend(ctx context.Context, name string, memoryBytes int64) (process *engines.Process, build string, err error)
}

// atOnce is the number of concurrent requests of one process.
const atOnce = 16

// A broker serves the requests of one process for what is outside it.
type broker struct {
	pool   *Pool
	proc   *process
	conn   *net.UnixConn
	places chan struct{}
}

func newBroker(p *Pool, proc *process, conn *net.UnixConn) *broker {
	return &broker{pool: p, proc: proc, conn: conn, places: make(chan struct{}, atOnce)}
}

// serve answers requests until the process ends. It ends a process that breaks the protocol.
func (k *broker) serve() {
	in := bufio.NewReaderSize(k.conn, 4<<10)
	for {
		q, err := sealed.ReadRequest(in)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				k.proc.kill(protocol)
			}
			_ = k.conn.Close() // it has ended
			return
		}
		c := k.proc.owed()
		if c == nil || c.requests >= k.pool.cfg.Sealed.MaxRequests {
			text := "this execution has made too many connections"
			if c == nil {
				text = "no execution asks"
			}
			k.reply(c, sealed.Reply{ID: q.ID, Outcome: sealed.Refused, Text: text}, nil)
			continue
		}
		c.requests++ // only here
		k.places <- struct{}{}
		go func() {
			defer func() { <-k.places }()
			k.answer(c, q)
		}()
	}
}

// answer answers one request of the execution c.
func (k *broker) answer(c *call, q sealed.Request) {
	reply := sealed.Reply{ID: q.ID, Outcome: sealed.Refused, Text: "the execution was not granted this"}
	access := c.reach(k.pool.cfg.Sealed.Outside)
	switch {
	case access == nil:
	case q.Verb == sealed.VerbSecret:
		if value, ok := access.Secret(q.Name); ok && len(value) <= sealed.MaxText {
			reply.Outcome, reply.Text = sealed.Granted, value
		}
	case q.Verb == sealed.VerbEngine:
		k.lend(c, access, reply)
		return
	case q.Verb == sealed.VerbTool:
		k.callTool(c, access, q.Name, reply)
		return
	default:
		ctx, cancel := c.context()
		defer cancel()
		conn, err := access.Connect(ctx, q.Name, q.Port)
		if err == nil {
			defer conn.Close() // the process has a descriptor of its own
			reply.Outcome, reply.Text = sealed.Granted, ""
			k.reply(c, reply, conn)
			return
		}
		reply.Outcome, reply.Text = outcomeOf(err)
	}
	k.reply(c, reply, nil)
}

// lend passes a process of another engine to the execution c, once. The process ends with the execution.
func (k *broker) lend(c *call, access Access, reply sealed.Reply) {
	name, memory := access.Engine()
	lender := k.pool.cfg.Sealed.Engines
	if name == "" || lender == nil || !c.lent.CompareAndSwap(false, true) {
		k.reply(c, reply, nil)
		return
	}
	ctx, cancel := c.context()
	defer cancel()
	process, build, err := lender.Lend(ctx, name, memory)
	if err != nil {
		k.pool.cfg.Logger.Error("no process of another engine", "engine", name, "error", err)
		reply.Outcome, reply.Text = sealed.Failed, "the engine is not available"
		k.reply(c, reply, nil)
		return
	}
	reply.Outcome, reply.Text = sealed.Lent, fmt.Sprintf("%d %s", process.PID, build)
	k.reply(c, reply, process.Conn)
	<-c.over
	process.Kill()
}

// callTool passes a connection over which the execution c makes one call of a tool of its caller.
func (k *broker) callTool(c *call, access Access, name string, reply sealed.Reply) {
	if !c.hasCallerTool(name) || !access.Tool(name) {
		k.reply(c, reply, nil)
		return
	}
	owner, function, err := sealed.NewConns()
	if err != nil {
		k.pool.cfg.Logger.Error("no connection for a call of a tool", "error", err)
		reply.Outcome, reply.Text = sealed.Failed, ""
		k.reply(c, reply, nil)
		return
	}
	reply.Outcome, reply.Text = sealed.Granted, ""
	k.reply(c, reply, function)
	_ = function.Close() // the process has a descriptor of its own
	ctx, cancel := c.context()
	defer cancel()
	err = sealed.AnswerTool(ctx, owner, func(ctx context.Context, params []byte) ([]byte, error) {
		return c.inv.CallTool(ctx, name, params)
	})
	if errors.Is(err, sealed.ErrProtocol) {
		k.proc.kill(protocol)
	}
}

// hasCallerTool reports whether the execution brought the tool name of its caller, and the caller can be called.
func (c *call) hasCallerTool(name string) bool {
	return c.inv != nil && c.inv.CallTool != nil && slices.ContainsFunc(c.inv.Request.Tools, func(t execution.Tool) bool {
		return t.Name == name && t.Via == execution.ToolOfCaller
	})
}

// outcomeOf classifies an error of Connect. Guests see only the text of a refusal.
func outcomeOf(err error) (sealed.Outcome, string) {
	var refusal interface {
		error
		Refused() bool
	}
	var network net.Error
	switch {
	case errors.As(err, &refusal) && refusal.Refused():
		return sealed.Refused, refusal.Error()
	case errors.Is(err, syscall.ECONNREFUSED):
		return sealed.Unreachable, ""
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return sealed.TimedOut, ""
	}
	return sealed.Failed, ""
}

// reply sends a reply if c, which may be nil, is still the current call. A process that does not read its replies
// gets no more and is ended with its execution.
func (k *broker) reply(c *call, p sealed.Reply, conn net.Conn) {
	err := sealed.Send(k.conn, p, conn, func(attempt func()) bool { return k.proc.while(c, attempt) })
	if err != nil && !errors.Is(err, net.ErrClosed) {
		k.proc.kill(protocol)
	}
}

// reach returns what the execution may reach; nil means nothing.
func (c *call) reach(outside Outside) Access {
	c.asked.Do(func() {
		if outside == nil {
			return
		}
		inv := c.inv
		if inv == nil {
			// Lambda's clients send requests without an envelope, and events. An event has the defaults.
			decoded, err := execution.DecodeInvocation(c.payload)
			if err != nil {
				decoded = execution.Invocation{}
			}
			if decoded.Caller.Tenant == "" {
				decoded.Caller.Tenant = c.tenant
			}
			inv = &decoded
		}
		c.access = outside.Begin(*inv)
	})
	return c.access
}

// context returns a context that ends with the execution.
func (c *call) context() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithDeadline(context.Background(), c.deadline)
	go func() {
		select {
		case <-c.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
