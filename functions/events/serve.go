package events

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/functions/execution"
)

// Run executes one invocation. It calls onLog for each console call, in order and never after it has returned. An
// error is a platform failure: an *execution.Error, or any other error, which callers see as execution.Internal. If
// ctx is cancelled, it ends soon with a cancelled Result.
type Run func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Result, error)

// A Handler answers one Lambda invocation. It is safe for concurrent use if its Run is.
type Handler func(ctx context.Context, payload json.RawMessage) (io.Reader, error)

// An Option configures a Handler.
type Option func(*server)

// Logger sets the log for what callers do not see: the causes of internal errors and the stacks of panics. By default
// nothing is logged.
func Logger(l *slog.Logger) Option { return func(s *server) { s.log = l } }

// Clock replaces time.Now.
func Clock(now func() time.Time) Option { return func(s *server) { s.now = now } }

// Random replaces crypto/rand.Reader as the source of new IDs.
func Random(r io.Reader) Option { return func(s *server) { s.random = r } }

// CancelFrom reads execution IDs from r, one per line, and cancels those executions, whether they run or are still on
// their way. The owner of a local function process uses it when nobody waits for an answer any more. The end of r has
// no effect.
func CancelFrom(r io.Reader) Option { return func(s *server) { s.cancels = r } }

// Adapted answers events of other sources (HTTP, SQS, SNS, EventBridge) through a. Without it they are refused.
func Adapted(a *Adapter) Option { return func(s *server) { s.adapter = a } }

// HandedOver fetches invocations that were too large to send. Without it they are refused. The error of fetch is an
// *execution.Error.
func HandedOver(fetch func(context.Context, execution.Handover) ([]byte, error)) Option {
	return func(s *server) { s.fetch = fetch }
}

// ExitWhen ends the process after an answer was sent if spent reports that the process should not take another
// invocation. exit is called with no invocation in progress and must not return.
func ExitWhen(spent func() bool, exit func()) Option {
	return func(s *server) {
		s.answered = func() {
			if spent() {
				exit()
			}
		}
		s.spent = spent
	}
}

type server struct {
	run     Run
	fetch   func(context.Context, execution.Handover) ([]byte, error)
	adapter *Adapter
	log     *slog.Logger
	now     func() time.Time
	random  io.Reader
	cancels io.Reader
	running *running
	// spent reports that the process should not answer again; answered is called when an answer was sent.
	spent    func() bool
	answered func()
}

// NewHandler returns the handler that Serve runs.
func NewHandler(run Run, opts ...Option) Handler {
	s := &server{
		run:     run,
		log:     slog.New(slog.DiscardHandler),
		now:     time.Now,
		random:  rand.Reader,
		running: newRunning(),

		spent:    func() bool { return false },
		answered: func() {},
	}
	for _, o := range opts {
		o(s)
	}
	if s.cancels != nil {
		go s.running.follow(s.cancels)
	}
	return s.handle
}

// Serve answers invocations from the Lambda Runtime API at $AWS_LAMBDA_RUNTIME_API until the process ends. It does
// not return; if the Runtime API fails, the process exits with status 1.
func Serve(run Run, opts ...Option) {
	lambda.Start(NewHandler(run, opts...))
}

// Answer answers one invocation for a loop other than Lambda's. tenant is Lambda's tenant ID, or empty. A non-empty
// kind is the code of an [execution.Error] and reports a failure instead of an answer. The body may have a method
// Ended, which reports whether all of it was read, and must be closed if it can be.
func (h Handler) Answer(ctx context.Context, tenant string, payload []byte) (body io.Reader, kind, message string) {
	if tenant != "" {
		ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{TenantID: tenant})
	}
	body, err := h(ctx, payload)
	if err == nil {
		return body, "", ""
	}
	var f messages.InvokeResponse_Error
	if !errors.As(err, &f) {
		f = messages.InvokeResponse_Error{Type: string(execution.Internal), Message: err.Error()}
	}
	return nil, f.Type, f.Message
}

func (s *server) handle(ctx context.Context, payload json.RawMessage) (io.Reader, error) {
	payload, handed, err := s.whole(ctx, payload)
	if err != nil {
		return nil, s.functionError(s.failure(handed, err))
	}
	inv, err := execution.DecodeInvocation(payload)
	if err == nil && handed != "" && inv.ID != handed {
		err = &execution.Error{Code: execution.InvalidRequest, Field: "handover.id",
			Message: "does not match the invocation that was handed over"}
	}
	if err == nil {
		err = s.complete(&inv)
	} else if s.adapter != nil && handed == "" {
		kind, unknown := Detect(payload)
		if unknown == nil && kind != Direct && kind != Enveloped {
			return s.adapt(ctx, kind, payload)
		}
		var other *UnknownEventError
		if errors.As(unknown, &other) {
			err = &execution.Error{Code: execution.InvalidRequest, Message: other.Error()}
		}
	}
	if err == nil && !inv.StartBefore.IsZero() && s.now().After(inv.StartBefore) {
		err = &execution.Error{Code: execution.Throttled, Message: execution.TooLate, RetryAfter: time.Second}
	}
	if err != nil {
		return nil, s.functionError(s.failure(inv.ID, err))
	}
	ctx, done := s.running.start(ctx, inv.ID)
	if inv.Stream {
		st := newStream(done, s.answered)
		go func() {
			res, err := s.guarded(ctx, inv, st.log)
			if err != nil {
				st.end(execution.Event{Error: s.failure(inv.ID, err)})
				return
			}
			st.end(execution.Event{Result: &res})
		}()
		return st, nil
	}
	defer done()
	res, err := s.guarded(ctx, inv, func(execution.Log) {})
	if err != nil {
		return nil, s.functionError(s.failure(inv.ID, err))
	}
	return s.newDocument(res)
}

// whole returns the payload, or the invocation that a handover names, with its ID.
func (s *server) whole(ctx context.Context, payload []byte) (whole []byte, handed string, err error) {
	h, is, err := execution.DecodeHandover(payload)
	if err != nil || !is {
		return payload, "", err
	}
	if s.fetch == nil {
		return nil, h.ID, &execution.Error{Code: execution.InvalidRequest, Field: "handover",
			Message: "this function has no store for handed-over requests; set HANDOVER_STORE"}
	}
	whole, err = s.fetch(ctx, h)
	return whole, h.ID, err
}

// adapt answers an event of another source in the form of that source.
func (s *server) adapt(ctx context.Context, kind Kind, payload []byte) (io.Reader, error) {
	answer, err := s.adapter.Answer(ctx, s.fresh, kind, payload)
	if err != nil {
		return nil, s.functionError(s.failure("", err))
	}
	return document{bytes.NewReader(answer), s.answered}, nil
}

// fresh runs one execution of an event under an ID of its own and logs its failure.
func (s *server) fresh(ctx context.Context, inv execution.Invocation,
	onLog func(execution.Log)) (execution.Result, error) {
	if err := s.complete(&inv); err != nil {
		return execution.Result{}, s.failure("", err)
	}
	ctx, done := s.running.start(ctx, inv.ID)
	defer done()
	res, err := s.guarded(ctx, inv, onLog)
	if err != nil {
		return res, s.failure(inv.ID, err)
	}
	return res, nil
}

// complete sets the fields that an invocation may omit.
func (s *server) complete(inv *execution.Invocation) error {
	now := s.now()
	if inv.ReceivedAt.IsZero() {
		inv.ReceivedAt = now
	}
	if inv.ID != "" {
		return nil
	}
	id, err := ulid.New(ulid.Timestamp(now), s.random)
	if err != nil {
		return fmt.Errorf("draw an execution id: %w", err)
	}
	inv.ID = "exec_" + id.String()
	return nil
}

// guarded runs an invocation and turns a panic into an error. The process continues, because each execution has its own
// sandbox.
func (s *server) guarded(ctx context.Context, inv execution.Invocation,
	onLog func(execution.Log)) (res execution.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &execution.Error{
				Code:    execution.Internal,
				Message: "the execution failed inside the platform",
				Err:     fmt.Errorf("panic: %v\n%s", v, debug.Stack()),
			}
		}
	}()
	return s.run(ctx, inv, onLog)
}

// failure returns an error that may be shown, and logs the rest.
func (s *server) failure(id string, err error) *execution.Error {
	var e *execution.Error
	if !errors.As(err, &e) {
		e = &execution.Error{Code: execution.Internal, Message: "the execution failed inside the platform", Err: err}
	}
	if e.Err != nil {
		s.log.Error("execution failed", "id", id, "code", e.Code, "error", e.Err)
	}
	public := *e
	public.Err = nil
	return &public
}

// functionError returns the error of an invocation that does not stream; its errorType is the code. The process of a
// spent sandbox exits after it.
func (s *server) functionError(e *execution.Error) error {
	return messages.InvokeResponse_Error{Type: string(e.Code), Message: e.Error(), ShouldExit: s.spent()}
}
