package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/results"
	"github.com/airlock-run/airlock/gateway/stream"
)

const (
	// streamWindow is how many bytes of events one execution may be ahead of its slowest client, and how many a client
	// that lost its connection can still get.
	streamWindow = 256 << 10
	// admission is how long an execution may wait in line before the answer begins; until then a refusal is an ordinary
	// problem with its own status, afterwards an event.
	admission = time.Second
)

// streams are the executions that clients can follow: those that run, and the last ones that have ended.
type streams struct {
	ended *results.Store[*following]

	mu      sync.Mutex
	running map[string]*following
}

// following is one streamed execution, whose it is, and what stops it.
type following struct {
	owner string
	log   *stream.Log
	stop  context.CancelFunc
}

func newStreams() (*streams, error) {
	ended, err := results.New[*following](bounds.Of(bounds.Replays).Most, bounds.Of(bounds.Replays).Bytes)
	return &streams{ended: ended, running: map[string]*following{}}, err
}

func (st *streams) find(id string) (*following, bool) {
	st.mu.Lock()
	f, ok := st.running[id]
	st.mu.Unlock()
	if ok {
		return f, true
	}
	return st.ended.Get(id)
}

// cancel stops a streamed execution of owner. It reports whether there is one that runs; its stream ends with the result.
func (st *streams) cancel(id, owner string) bool {
	st.mu.Lock()
	f, ok := st.running[id]
	st.mu.Unlock()
	if !ok || f.owner != owner {
		return false
	}
	f.stop()
	return true
}

func (st *streams) begin(id string, f *following) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.running[id] = f
}

func (st *streams) end(id string) {
	st.mu.Lock()
	f := st.running[id]
	delete(st.running, id)
	st.mu.Unlock()
	f.log.Close()
	st.ended.Put(f.owner, id, f, f.log.Bytes())
}

// executeStream is POST /api/execute/stream: the guest's output as it is printed, then the result, as server-sent events.
// With Last-Event-ID it runs nothing and goes on where that connection was lost.
func (s *Server) executeStream(c *fiber.Ctx) error {
	leave, err := enter(c, s.places.streams, bounds.Streams)
	if err != nil {
		return err
	}
	if err := s.openStream(c, leave); err != nil {
		leave()
		return err
	}
	return nil
}

// openStream answers with a stream, and calls leave when that has ended.
func (s *Server) openStream(c *fiber.Ctx, leave func()) error {
	if last := utils.CopyString(c.Get("Last-Event-ID")); last != "" {
		return s.resume(c, last, leave)
	}
	job, err := s.job(c)
	if err != nil {
		return err
	}
	claim, err := s.claim(c, job.Caller.Owner(), false)
	if err != nil {
		return err
	}
	if claim.saved != nil {
		c.Set(replayed, "true")
		return s.serveResult(c, claim.saved.Body, leave)
	}
	job.ID = s.deps.NewID()
	ctx, hangUp := context.WithCancel(s.base)
	abandoned := hangUp
	if claim.keep != nil { // its caller means to come back
		abandoned = nil
	}
	log := stream.NewLog(streamWindow, abandoned)
	s.streams.begin(job.ID, &following{job.Caller.Owner(), log, hangUp})
	follower := log.Follow(0)
	admitted, refused := make(chan struct{}), make(chan error, 1)
	job.Admitted = sync.OnceFunc(func() { close(admitted) })
	go s.runStream(ctx, job, log, claim, refused, dress(c, s.deps.NewID))
	patience := time.NewTimer(admission)
	defer patience.Stop()
	watched, release := s.attached(c)
	select {
	case err := <-refused:
		release()
		follower.Close()
		return err
	case <-admitted:
	case <-patience.C:
	case <-watched.Done():
		if abandoned != nil {
			abandoned()
		}
	}
	release()
	return s.serveStream(c, job.ID, follower, leave)
}

// runStream runs a job and publishes what becomes of it. An error goes to refused when nobody has been admitted yet, and
// to the stream in any case.
func (s *Server) runStream(ctx context.Context, job Job, log *stream.Log, claim *claim, refused chan<- error, requestID string) {
	defer s.streams.end(job.ID)
	defer claim.abandon()
	fail := func(err error) {
		refused <- err
		publish(context.WithoutCancel(ctx), log, "error", s.document(err, "/api/execute/stream", requestID))
	}
	defer func() {
		if r := recover(); r != nil {
			fail(fmt.Errorf("a stream panicked: %v", r))
		}
	}()
	index := 0
	job.OnLog = func(l execution.Log) {
		body, err := json.Marshal(chunk{l.Message + "\n", index, l.Level})
		if err == nil && log.Publish(ctx, "chunk", body) == nil {
			index++
		}
	}
	result, err := s.Execute(ctx, job)
	if err != nil {
		fail(err)
		return
	}
	body, err := encode(result)
	if err != nil {
		fail(err)
		return
	}
	if err := claim.finish(results.Saved{Status: 200, Body: body}); err != nil {
		fail(err)
		return
	}
	job.Admitted()
	publish(context.WithoutCancel(ctx), log, "complete", body)
}

type chunk struct {
	Chunk string `json:"chunk"`
	Index int    `json:"index"`
	Level string `json:"level"`
}

// publish adds an event of one line; it is dropped when ctx has ended, because then nobody reads.
func publish(ctx context.Context, log *stream.Log, name string, body []byte) {
	_ = log.Publish(ctx, name, []byte(strings.TrimSuffix(string(body), "\n")))
}

// resume goes on after the event that Last-Event-ID names. Where the events are no longer kept but the result is, that
// alone is sent.
func (s *Server) resume(c *fiber.Ctx, last string, leave func()) error {
	id, number, _ := strings.Cut(last, ":")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || !execution.ValidID(id) {
		return bad("Last-Event-ID", "is not one that this service gave out")
	}
	caller := callerOf(c)
	if f, ok := s.streams.find(id); ok && f.owner == caller.Owner() {
		return s.serveStream(c, id, f.log.Follow(n), leave)
	}
	if k, ok := s.kept.Get(id); ok && (k.owner == caller.Owner() || caller.May(authn.AuditReadAll)) {
		return s.serveResult(c, k.body, leave)
	}
	return &problem{status: 404, detail: "there is no stream with this id any more; the audit record is kept for good"}
}

// serveResult answers with the one event of a result that is there already.
func (s *Server) serveResult(c *fiber.Ctx, body []byte, leave func()) error {
	var result execution.Result
	if err := json.Unmarshal(body, &result); err != nil {
		return fmt.Errorf("read a kept result: %w", err)
	}
	log := stream.NewLog(streamWindow, nil)
	publish(s.base, log, "complete", body)
	log.Close()
	return s.serveStream(c, result.ID, log.Follow(0), leave)
}

// serveStream answers with what the follower reads. When the client is gone, or takes longer than the write timeout for
// one event, the follower leaves; when it was the last one, the run is stopped.
func (s *Server) serveStream(c *fiber.Ctx, id string, follower *stream.Follower, leave func()) error {
	c.Set(fiber.HeaderContentType, "text/event-stream; charset=utf-8")
	c.Set("X-Accel-Buffering", "no")
	c.Set(executionID, id)
	conn := c.Context().Conn()
	// A shutdown ends the run, and the run ends the stream, with its last event.
	ctx, release := watch(context.Background(), conn)
	heartbeat := min(s.cfg.Heartbeat, s.cfg.WriteTimeout/2)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer leave()
		defer release()
		defer follower.Close()
		err := stream.Write(ctx, w, follower, id, heartbeat, func() { extend(conn, s.cfg.WriteTimeout) })
		if err != nil {
			s.deps.Logger.Debug("a stream ended early", "execution", id, "error", err)
		}
	})
	return nil
}

// extend gives the next write its time; on a connection that is closed the write itself fails.
func extend(conn net.Conn, d time.Duration) { _ = conn.SetWriteDeadline(time.Now().Add(d)) }
