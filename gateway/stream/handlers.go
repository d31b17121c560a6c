package stream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/httpconn"
	"github.com/airlock-run/airlock/gateway/idempotency"
	"github.com/airlock-run/airlock/gateway/results"
)

const (
	// window is how many bytes of events an execution may be ahead of its slowest client, and how many a client that
	// lost its connection can still get.
	window = 256 << 10
	// patience is how long an execution may wait in the queue before the response begins. Until then a refusal is an
	// ordinary problem with its own status; afterwards it is an event.
	patience = time.Second
)

// Handlers serve POST /api/execute/stream, and the answers to calls of its tools.
type Handlers struct {
	Executor api.Executor
	Turns    api.Turns
	// Read reads the submission of a request.
	Read    func(*fiber.Ctx) (api.Submission, error)
	Running *Running
	Results *results.Store[results.Finished]
	Keys    *idempotency.Keys
	// Places bounds the number of open streams.
	Places *bounds.Pool
	// Problem returns the problem document of an error.
	Problem      func(err error, path, requestID string) []byte
	ResumeWithin time.Duration // how long a run continues without its client, who may have lost the connection
	Heartbeat    time.Duration // between comments on a silent stream
	WriteTimeout time.Duration // for one event
	NewID        func() string
	Logger       *slog.Logger
}

// Execute serves POST /api/execute/stream: the guest's output as it is printed, then the result, as server-sent
// events. With Last-Event-ID it runs nothing and continues where the connection was lost.
func (h *Handlers) Execute(c *fiber.Ctx) error {
	leave, err := access.Enter(c, h.Places, bounds.Streams)
	if err != nil {
		return err
	}
	if err := h.open(c, leave); err != nil {
		leave()
		return err
	}
	return nil
}

// open responds with a stream, and calls leave when it has ended.
func (h *Handlers) open(c *fiber.Ctx, leave func()) error {
	if last := utils.CopyString(c.Get("Last-Event-ID")); last != "" {
		return h.resume(c, last, leave)
	}
	s, err := h.Read(c)
	if err != nil {
		return err
	}
	claim, err := h.Keys.Claim(c, s.Caller.Owner(), false)
	if err != nil {
		return err
	}
	if claim.Saved != nil {
		c.Set(api.Replayed, "true")
		return h.sendResult(c, claim.Saved.Body, leave)
	}
	s.ID = h.NewID()
	ctx, stop := context.WithCancel(c.UserContext())
	abandoned := stop
	if claim.HasKey() { // the caller may come back for the result
		abandoned = nil
	}
	log := NewLog(window, h.ResumeWithin, abandoned)
	calls := &calls{log: log, waiting: map[int]*waiting{}}
	s.CallTool = calls.call
	h.Running.begin(s.ID, &followed{s.Caller.Owner(), log, stop, calls})
	follower := log.Follow(0)
	admitted, refused := make(chan struct{}), make(chan error, 1)
	s.Admitted = sync.OnceFunc(func() { close(admitted) })
	go h.run(ctx, s, log, claim, refused, api.RequestID(c))
	waiting := time.NewTimer(patience)
	defer waiting.Stop()
	connected, release := api.DisconnectContext(c)
	select {
	case err := <-refused:
		release()
		follower.Close()
		return err
	case <-admitted:
	case <-waiting.C:
	case <-connected.Done():
		if abandoned != nil {
			abandoned()
		}
	}
	release()
	return h.send(c, s.ID, follower, leave)
}

// run runs a submission and publishes its output and result. It sends an error to the stream and to refused, whose
// reader responds with it if the execution was not admitted.
func (h *Handlers) run(
	ctx context.Context, s api.Submission, log *Log, claim *idempotency.Claim, refused chan<- error, requestID string,
) {
	defer h.Running.end(s.ID)
	defer claim.Abandon()
	lasting := context.WithoutCancel(ctx)
	fail := func(err error) {
		refused <- err
		publish(lasting, log, "error", h.Problem(err, "/api/execute/stream", requestID))
	}
	defer func() {
		if r := recover(); r != nil {
			fail(fmt.Errorf("a stream panicked: %v", r))
		}
	}()
	index := 0
	s.OnLog = func(l execution.Log) {
		body, err := json.Marshal(chunk{l.Message + "\n", index, l.Level})
		if err == nil && log.Publish(ctx, "chunk", body) == nil {
			index++
		}
	}
	result, err := h.Executor.Execute(ctx, s)
	if err != nil {
		fail(err)
		return
	}
	body, err := api.EncodeResult(h.Results, result)
	if err != nil {
		fail(err)
		return
	}
	if err := claim.Finish(results.Saved{Status: 200, Body: body}); err != nil {
		fail(err)
		return
	}
	s.Admitted()
	publish(lasting, log, eventOf(result.Status), body)
}

// eventOf returns the name of the last event of a stream.
func eventOf(status execution.Status) string {
	if status == execution.Paused {
		return "paused"
	}
	return "complete"
}

type chunk struct {
	Chunk string `json:"chunk"`
	Index int    `json:"index"`
	Level string `json:"level"`
}

// publish adds an event of one line. The event is dropped if ctx has ended, because then nobody reads.
func publish(ctx context.Context, log *Log, name string, body []byte) {
	_ = log.Publish(ctx, name, bytes.TrimSuffix(body, []byte("\n")))
}

// resume continues after the event that Last-Event-ID names. If only the result is still kept, it is sent alone.
func (h *Handlers) resume(c *fiber.Ctx, last string, leave func()) error {
	id, number, _ := strings.Cut(last, ":")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || !execution.ValidID(id) {
		return api.Invalid("Last-Event-ID", "is not one that this service issued")
	}
	caller := api.CallerOf(c)
	if f, ok := h.Running.find(id); ok && f.owner == caller.Owner() {
		return h.send(c, id, f.log.Follow(n), leave)
	}
	if kept, ok := h.Results.Get(id); ok && kept.VisibleTo(caller) {
		return h.sendResult(c, kept.Body, leave)
	}
	return api.NotFound("there is no stream with this id, or it has expired; the audit record remains")
}

// sendResult responds with one event, that of a result which is there already.
func (h *Handlers) sendResult(c *fiber.Ctx, body []byte, leave func()) error {
	var result struct {
		ID     string
		Status execution.Status
	}
	if err := json.Unmarshal(body, &result); err != nil {
		return fmt.Errorf("read a kept result: %w", err)
	}
	log := NewLog(window, 0, nil)
	publish(c.UserContext(), log, eventOf(result.Status), body)
	log.Close()
	return h.send(c, result.ID, log.Follow(0), leave)
}

// send responds with what the follower reads. If the client is gone, or takes longer than the write timeout for one
// event, the follower leaves. If it was the last follower and none comes within ResumeWithin, the run is stopped.
func (h *Handlers) send(c *fiber.Ctx, id string, follower *Follower, leave func()) error {
	c.Set(fiber.HeaderContentType, "text/event-stream; charset=utf-8")
	c.Set("X-Accel-Buffering", "no")
	c.Set(api.ExecutionID, id)
	conn := c.Context().Conn()
	// The context does not end with a shutdown: that ends the run, and the run ends the stream with its last event.
	ctx, release := httpconn.DisconnectContext(context.Background(), conn)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer leave()
		defer release()
		defer follower.Close()
		err := Write(ctx, w, follower, id, min(h.Heartbeat, h.WriteTimeout/2), func() {
			httpconn.ExtendWrite(conn, h.WriteTimeout)
		})
		if err != nil {
			h.Logger.Debug("a stream ended early", "execution", id, "error", err)
		}
	})
	return nil
}
