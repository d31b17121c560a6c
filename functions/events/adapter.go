package events

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
)

// DefaultMaxBody is the default limit of an HTTP body in bytes: as much as a request may have.
const DefaultMaxBody = execution.MaxRequestBytes

// AdapterConfig configures how events run. The zero value serves messages and refuses HTTP requests that the provider
// has not authenticated.
type AdapterConfig struct {
	// Bound maps a kind to the request that its events run; the event becomes the input. Without an entry the event
	// itself must carry a request: as HTTP body, SQS or SNS message, or EventBridge detail. Direct and Enveloped cannot
	// be bound.
	Bound map[Kind]execution.Request
	// Verify authenticates an HTTP request that the provider has not authenticated by its headers and raw body, such as
	// a webhook signature. Its error is not shown to the caller. nil refuses all such requests.
	Verify func(header http.Header, body []byte) error
	// OpenHTTP serves unauthenticated HTTP requests. Set it only if something in front authenticates them.
	OpenHTTP bool
	// Headers are request headers that bound code receives in addition to those of package webhook. None may carry
	// credentials.
	Headers []string
	// AnswerHeaders are X- headers that bound code may set in addition to those of package webhook.
	AnswerHeaders []string
	// MaxBody is the largest HTTP body in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// Budget returns the longest time of a request. A queued message is left for a later delivery if less time than
	// that remains of the invocation. With nil only the end of the invocation counts.
	Budget func(execution.Request) time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log receives why messages and notifications failed, because their senders are gone. nil discards it.
	Log *slog.Logger
}

// An Adapter turns events into executions and their results into the answers that the sources expect. It is immutable
// and safe for concurrent use.
type Adapter struct {
	cfg AdapterConfig
}

// NewAdapter returns an Adapter, or an error if cfg is invalid.
func NewAdapter(cfg AdapterConfig) (*Adapter, error) {
	for kind, request := range cfg.Bound {
		switch kind {
		case FunctionURL, HTTPAPI, RESTAPI, LoadBalancer, Queue, Topic, Bus, Schedule:
		default:
			return nil, errors.New("events: a request cannot be bound to events of kind " + clip(string(kind)))
		}
		if request.Code == "" && request.Entry == "" {
			return nil, errors.New("events: the request bound to " + string(kind) + " has no code")
		}
	}
	for _, name := range cfg.Headers {
		if !webhook.IsToken(name) || strings.Contains(name, "*") || webhook.Credential(name) {
			return nil, errors.New("events: the header " + clip(name) +
				" cannot be given to code: it is not a header's name, or it carries credentials")
		}
	}
	if err := webhook.CheckAnswerHeaders(cfg.AnswerHeaders); err != nil {
		return nil, errors.New("events: " + err.Error())
	}
	if cfg.MaxBody < 0 {
		return nil, errors.New("events: AdapterConfig.MaxBody must not be negative")
	}
	if cfg.MaxBody == 0 {
		cfg.MaxBody = DefaultMaxBody
	}
	if cfg.Budget == nil {
		cfg.Budget = func(execution.Request) time.Duration { return 0 }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Adapter{cfg: cfg}, nil
}

// ParseBound reads AdapterConfig.Bound from JSON: an object from kind to execution request.
func ParseBound(data []byte) (map[Kind]execution.Request, error) {
	var raw map[Kind]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, errors.New("bound requests must be a JSON object from event kind to execution request")
	}
	bound := make(map[Kind]execution.Request, len(raw))
	for kind, one := range raw {
		request, err := execution.DecodeRequest(one)
		if err != nil {
			return nil, errors.New(string(kind) + ": " + err.Error())
		}
		bound[kind] = request
	}
	return bound, nil
}

// Answer serves one event of any kind but Direct and Enveloped with the executions that run makes of it, and returns
// the JSON that its source expects: an HTTP answer, a list of failed messages, or the Result. HTTP kinds always have
// an answer; SQS always has one unless the batch cannot be read. For the others an *execution.Error asks the provider
// to keep the event or deliver it again, as the deployment says: nothing is dropped. The invocations that run is
// given have no ID yet.
func (a *Adapter) Answer(ctx context.Context, run Run, kind Kind, payload []byte) (json.RawMessage, error) {
	w := work{cfg: a.cfg, run: run}
	switch kind {
	case FunctionURL, HTTPAPI:
		return w.answerV2(ctx, kind, payload)
	case RESTAPI, LoadBalancer:
		return w.answerV1(ctx, kind, payload)
	case Queue:
		return w.answerQueue(ctx, payload)
	case Topic:
		return w.answerTopic(ctx, payload)
	case Bus, Schedule:
		return w.answerBus(ctx, kind, payload)
	}
	return nil, &UnknownEventError{Name: "a payload of kind \"" + clip(string(kind)) + "\""}
}

// work is the answering of one event.
type work struct {
	cfg AdapterConfig
	run Run
}

// execute runs one request of an event; its logs are in the result.
func (w work) execute(ctx context.Context, kind Kind, caller execution.Caller,
	request execution.Request) (execution.Result, error) {
	_, bound := w.cfg.Bound[kind]
	return w.run(ctx, execution.Invocation{
		Airlock:    execution.InvocationVersion,
		Request:    request,
		Caller:     caller,
		Via:        kind.via(bound),
		ReceivedAt: w.cfg.Now().UTC(),
	}, func(execution.Log) {})
}

// request returns the request to run for an event: the bound request with the event as its input, or the request in
// the event.
func (w work) request(kind Kind, carried []byte, event any) (execution.Request, error) {
	request, bound := w.cfg.Bound[kind]
	if !bound {
		return execution.DecodeRequest(carried)
	}
	input, err := json.Marshal(event)
	if err != nil {
		return request, &execution.Error{Code: execution.Internal, Message: "the event cannot be passed to the code",
			Err: err}
	}
	request.Input = input
	return request, nil
}

// platform returns err as an *execution.Error. An error without a code is internal, and its text is not shown.
func platform(err error) *execution.Error {
	var e *execution.Error
	if errors.As(err, &e) {
		return e
	}
	return &execution.Error{Code: execution.Internal, Message: "the execution could not be carried out", Err: err}
}
