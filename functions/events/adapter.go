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

// DefaultMaxBody is the largest HTTP body, in bytes, that is looked at unless AdapterConfig says otherwise.
const DefaultMaxBody = 1 << 20

// AdapterConfig is what a deployment decides about events. The zero value serves messages and refuses HTTP requests
// that the provider has not authenticated.
type AdapterConfig struct {
	// Bound gives, by kind, the request to run for events that carry none: the event becomes its input. Without an entry
	// the event itself must carry a request: as HTTP body, SQS or SNS message, or EventBridge detail. Direct and Enveloped
	// cannot be bound.
	Bound map[Kind]execution.Request
	// Verify accepts or refuses an HTTP request that the provider has not authenticated, by its headers and raw body (a
	// webhook signature, say). Its error is not shown to the caller. nil refuses all of them.
	Verify func(header http.Header, body []byte) error
	// OpenHTTP serves HTTP requests that nobody has authenticated. Only for a deployment that authenticates in front.
	OpenHTTP bool
	// Headers are request headers that bound code is given beside those that package webhook lets through. None of them
	// may carry credentials.
	Headers []string
	// AnswerHeaders are X- headers that bound code may set on its answers beside those that package webhook lets through.
	AnswerHeaders []string
	// MaxBody is the largest HTTP body in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// Budget says how long a request may run at most. A queued message is left for a later delivery when less than that
	// remains of the invocation. nil looks only at whether the invocation is over.
	Budget func(execution.Request) time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log is told why messages and notifications were not carried out: their senders are not there to be told. nil
	// discards.
	Log *slog.Logger
}

// Adapter turns events into executions and their results into the answer that the source of the event expects. It is
// immutable and safe for concurrent use.
type Adapter struct {
	cfg AdapterConfig
}

// NewAdapter checks the configuration.
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
		if !isToken(name) || strings.Contains(name, "*") || webhook.Credential(name) {
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

// Answer serves one event of any kind but Direct and Enveloped with the executions that run makes of it, and gives
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

// work is one event being answered.
type work struct {
	cfg AdapterConfig
	run Run
}

// execute runs one request on behalf of an event; its logs are in the result.
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

// request gives what to run for an event: the bound request with the event as its input, or the one that it carries.
func (w work) request(kind Kind, carried []byte, event any) (execution.Request, error) {
	request, bound := w.cfg.Bound[kind]
	if !bound {
		return execution.DecodeRequest(carried)
	}
	input, err := json.Marshal(event)
	if err != nil {
		return request, &execution.Error{Code: execution.Internal, Message: "the event cannot be handed to the code",
			Err: err}
	}
	request.Input = input
	return request, nil
}

// platform gives any error its code; what has none is ours, and its words stay here.
func platform(err error) *execution.Error {
	var e *execution.Error
	if errors.As(err, &e) {
		return e
	}
	return &execution.Error{Code: execution.Internal, Message: "the execution could not be carried out", Err: err}
}
