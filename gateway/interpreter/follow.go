package interpreter

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/httpconn"
)

const (
	// patience is how long a step may wait in the queue before its response begins, and grace how long it may then run
	// and print nothing. Until then an error has its own status; afterwards it is a line. The client begins to count the
	// timeout of the code when the response begins.
	patience = time.Second
	grace    = 50 * time.Millisecond
	// maxAhead is how many lines a step may be ahead of its client.
	maxAhead = 64
)

// A followed is a step whose lines are sent as its code prints.
type followed struct {
	step     int
	id       string
	now      func() time.Time
	stop     context.CancelFunc
	admitted chan struct{}
	lines    chan []byte

	// The goroutine of the step sets these before it closes ended: the outcome, and how many console calls have become
	// lines. If held, no more do.
	ended  chan struct{}
	result execution.Result
	err    error
	sent   int
	held   bool
}

// follow runs a submission as the next step of a session and sends its lines as the code prints. It calls leave when
// the step has ended.
func (h *Handlers) follow(c *fiber.Ctx, session string, s api.Submission, leave func()) error {
	closed, err := access.Enter(c, h.Places, bounds.Streams)
	if err != nil {
		leave()
		return err
	}
	release, err := h.Sessions.Begin(c.UserContext(), session, &s)
	if err != nil {
		closed()
		leave()
		return err
	}
	ctx, stop := context.WithCancel(c.UserContext())
	f := &followed{
		step: s.Session.Step, id: s.ID, now: h.Now, stop: stop,
		admitted: make(chan struct{}), lines: make(chan []byte, maxAhead), ended: make(chan struct{}),
	}
	go f.run(ctx, h.Executor, s, func() {
		release()
		leave()
	})
	connected, disconnect := api.DisconnectContext(c)
	first, begun := f.begin(connected)
	disconnect()
	if begun {
		h.send(c, f, first, closed)
		return nil
	}
	defer closed()
	defer stop()
	if f.err != nil {
		return f.err
	}
	return h.respond(c, f.result)
}

// run runs the step. over ends its claim on the session: the client may send the next step as soon as it has read the
// last line.
func (f *followed) run(ctx context.Context, executor api.Executor, s api.Submission, over func()) {
	defer close(f.ended)
	defer over()
	defer func() {
		if r := recover(); r != nil {
			f.err = fmt.Errorf("a step panicked: %v", r)
		}
	}()
	s.Admitted = sync.OnceFunc(func() { close(f.admitted) })
	s.OnLog = func(l execution.Log) { f.print(ctx, l) }
	f.result, f.err = executor.Execute(ctx, s)
}

// print adds the line of a console call. A text that may be cut, or say how many calls are not listed, is left to the
// result, which has the whole text, and so are those after it.
func (f *followed) print(ctx context.Context, l execution.Log) {
	f.held = f.held || !api.Whole(l)
	if f.held {
		return
	}
	line, err := encode([]output{consoleLine(api.ToStderr(l), l.Message+"\n", f.now())})
	if err != nil {
		f.held = true
		return
	}
	select {
	case f.lines <- line:
		f.sent++
	case <-ctx.Done():
		f.held = true
	}
}

// begin waits until the response must begin, and returns the first line, if there is one. If begun is false, the step
// has ended before.
func (f *followed) begin(connected context.Context) (first []byte, begun bool) {
	admitted, gone := f.admitted, connected.Done()
	wait := time.NewTimer(patience)
	defer wait.Stop()
	for {
		select {
		case <-f.ended:
			return nil, false
		case first = <-f.lines:
			return first, true
		case <-admitted:
			admitted = nil
			wait.Reset(grace)
		case <-wait.C:
			return nil, true
		case <-gone:
			gone = nil
			f.stop()
		}
	}
}

// send responds with the lines of a step. If the client hangs up, or takes longer than the write timeout for one line,
// the step is stopped.
func (h *Handlers) send(c *fiber.Ctx, f *followed, first []byte, closed func()) {
	c.Set(fiber.HeaderContentType, contentType)
	c.Set("X-Accel-Buffering", "no")
	c.Set(api.ExecutionID, f.id)
	conn, path, request := c.Context().Conn(), utils.CopyString(c.Path()), api.RequestID(c)
	// The context does not end with a shutdown: that ends the step, and the step ends the response with its last line.
	ctx, release := httpconn.DisconnectContext(context.Background(), conn)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer closed()
		defer release()
		defer f.stop()
		write := func(line []byte) error {
			httpconn.ExtendWrite(conn, h.WriteTimeout)
			if _, err := w.Write(line); err != nil {
				return err
			}
			return w.Flush()
		}
		err := f.write(ctx, write, first)
		if err == nil {
			err = f.end(write, func() []byte { return h.Problem(f.err, path, request) })
		}
		if err != nil {
			h.Logger.Debug("a stream ended early", "execution", f.id, "error", err)
		}
	})
}

// write writes the lines until the step has ended.
func (f *followed) write(ctx context.Context, write func([]byte) error, first []byte) error {
	head, err := encode([]output{numberLine(f.step)})
	if err != nil {
		return err
	}
	line := append(head, first...)
	for {
		if err := write(line); err != nil {
			return err
		}
		select {
		case line = <-f.lines:
		case <-ctx.Done():
			return ctx.Err()
		case <-f.ended:
			select {
			case line = <-f.lines:
			default:
				return nil
			}
		}
	}
}

// end writes the lines that remain when the step has ended. problem returns the problem document of its error.
func (f *followed) end(write func([]byte) error, problem func() []byte) error {
	rest := []output{endLine}
	if f.err == nil {
		rest = outputs(f.result, f.sent, f.now())
	} else {
		var found struct{ Detail string }
		if err := json.Unmarshal(problem(), &found); err != nil {
			return err
		}
		none := ""
		rest = append([]output{{Type: "error", Name: "PlatformError", Value: &found.Detail, Traceback: &none}}, rest...)
	}
	body, err := encode(rest)
	if err != nil {
		return err
	}
	return write(body)
}
