package lambdainvoke

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/schemas"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go/transport/http/protocol/restjson1"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/replystream"
)

// A Client runs executions on a Lambda function, or on one function per tier. It is safe for concurrent use.
type Client struct {
	cfg Config
	api *lambda.Client

	mu      sync.Mutex
	readyAt time.Time // of the last successful probe
}

// Invoke runs inv on the function and returns when it has ended. onLog, which may be nil, receives each log as it is
// printed: in order, never concurrently, and never after Invoke has returned.
//
// The deadline of ctx is the execution's; Config.Grace after it, Invoke gives up and reports a timeout. If ctx is
// cancelled, Invoke gives up at once; Lambda cannot stop the function, which ends at its own limit. In both cases,
// and if a function crashes, is killed or runs out of memory, the Reply is not Recorded and has the logs that had
// arrived. The error is always an *execution.Error: Throttled, TooLarge, Unavailable, Internal, or the function's
// own.
func (c *Client) Invoke(ctx context.Context, inv execution.Invocation,
	onLog func(execution.Log)) (execution.Reply, error) {
	return replystream.Named(ctx, inv, onLog, c.invoke)
}

func (c *Client) invoke(ctx context.Context, inv execution.Invocation,
	onLog func(execution.Log)) (execution.Reply, error) {
	began := c.cfg.Now()
	inv.Airlock, inv.Stream = execution.InvocationVersion, true
	a := replystream.New(inv, onLog)
	if errors.Is(ctx.Err(), context.Canceled) {
		return a.CutShort(replystream.Cancelled, 0, 0), nil
	}
	payload, err := c.payload(ctx, inv)
	if err != nil {
		return execution.Reply{}, err
	}
	calling, stop := c.patient(ctx)
	defer stop()
	carry := c.stream
	if c.cfg.Buffered {
		carry = c.buffer
	}
	failure, err := carry(calling, inv, payload, a)
	took := c.cfg.Now().Sub(began)
	if err != nil {
		return c.lost(ctx, a, err, took)
	}
	reply, bad := a.Reply()
	if failure == nil || bad == nil {
		return reply, bad
	}
	return failed(a, failure, took)
}

// payload returns the payload to send: the invocation, or a handover if it is too large.
func (c *Client) payload(ctx context.Context, inv execution.Invocation) ([]byte, error) {
	payload, err := inv.Encode()
	if err != nil {
		return nil, &execution.Error{Code: execution.InvalidRequest, Message: "the request does not encode as JSON", Err: err}
	}
	most := maxRequest
	if c.cfg.Handover != nil {
		most = execution.MaxInvocationBytes
	}
	switch {
	case len(payload) > most:
		return nil, &execution.Error{
			Code: execution.TooLarge,
			Message: fmt.Sprintf("the request takes %d bytes on its way to the function; at most %d can be carried",
				len(payload), most) + c.moreWith(),
		}
	case len(payload) <= maxRequest:
		return payload, nil
	}
	handed, err := c.cfg.Handover.Put(ctx, inv.ID, payload)
	if err != nil {
		return nil, err
	}
	return handed.Payload(), nil
}

// moreWith returns the end of the message about a payload that is too large: what the deployment can do about it.
func (c *Client) moreWith() string {
	if c.cfg.Handover != nil {
		return ""
	}
	return ", because Lambda carries no more and this deployment has no HANDOVER_STORE"
}

// patient returns the context of a call: it ends when ctx is cancelled, and Config.Grace after ctx's deadline.
func (c *Client) patient(ctx context.Context) (context.Context, func()) {
	calling, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})
	if d, ok := ctx.Deadline(); ok {
		var expire context.CancelFunc
		calling, expire = context.WithDeadline(calling, d.Add(c.cfg.Grace))
		return calling, func() { unhook(); expire(); cancel() }
	}
	return calling, func() { unhook(); cancel() }
}

// stream sends an invocation by InvokeWithResponseStream.
func (c *Client) stream(ctx context.Context, inv execution.Invocation, payload []byte,
	a *replystream.Answer) (*replystream.Failure, error) {
	out, err := c.api.InvokeWithResponseStream(ctx, &lambda.InvokeWithResponseStreamInput{
		FunctionName: c.function(inv.Request.Policy),
		Qualifier:    optional(c.cfg.Qualifier),
		TenantId:     c.tenant(inv),
		Payload:      payload,
	}, ownDecoder)
	if err != nil {
		return nil, err
	}
	events := out.GetStream()
	defer events.Close() // what matters of its error is in Err, below
	var last *types.InvokeWithResponseStreamCompleteEvent
	size := 0
	// Read to the end of the stream, beyond its last event: only then can the connection be reused.
	for event := range events.Events() {
		switch e := event.(type) {
		case *types.InvokeWithResponseStreamResponseEventMemberPayloadChunk:
			if size += len(e.Value.Payload); size > maxStreamed {
				return &replystream.Failure{Type: replystream.TooLarge}, nil
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			a.Take(e.Value.Payload)
		case *types.InvokeWithResponseStreamResponseEventMemberInvokeComplete:
			last = &e.Value
		}
	}
	if last == nil {
		return nil, errors.Join(errors.New("the stream ended before the function did"), events.Err())
	}
	return completed(*last), nil
}

// ownDecoder sets a protocol for one call. All streams of one protocol share its event decoder, which is not safe for
// concurrent use (smithy-go 1.28.8), and answers of callers must never mix.
func ownDecoder(o *lambda.Options) { o.Protocol = restjson1.New(schemas.AWSGirApiService) }

// completed reads the last event of a stream; nil is success.
func completed(e types.InvokeWithResponseStreamCompleteEvent) *replystream.Failure {
	if aws.ToString(e.ErrorCode) == "" {
		return nil
	}
	f := &replystream.Failure{Type: *e.ErrorCode, Message: aws.ToString(e.ErrorDetails)}
	f.Read([]byte(f.Message)) // details may be the function's whole report
	return f
}

// buffer sends an invocation by Invoke.
func (c *Client) buffer(ctx context.Context, inv execution.Invocation, payload []byte,
	a *replystream.Answer) (*replystream.Failure, error) {
	out, err := c.api.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: c.function(inv.Request.Policy),
		Qualifier:    optional(c.cfg.Qualifier),
		TenantId:     c.tenant(inv),
		Payload:      payload,
	})
	if err != nil {
		return nil, err
	}
	if len(out.Payload) > maxBuffered+1024 {
		return &replystream.Failure{Type: replystream.TooLarge}, nil
	}
	// Emulators return errors without marking them, and timeouts as a line of text.
	f := &replystream.Failure{Type: "Unhandled"}
	switch {
	case f.Read(out.Payload):
		return f, nil
	case out.FunctionError != nil || timedOut(string(out.Payload)):
		f.Message = string(out.Payload)
		return f, nil
	}
	a.Take(out.Payload)
	return nil, nil
}

// function returns the function of a tier; "" is the default tier.
func (c *Client) function(policy string) *string {
	if len(c.cfg.Policies) == 0 {
		return &c.cfg.Function
	}
	if policy == "" {
		policy = c.cfg.Policies[0]
	}
	return aws.String(strings.ReplaceAll(c.cfg.Function, placeholder, policy))
}

// Ready asks Lambda whether each function exists and may be invoked. It caches success for Config.ReadyFor.
func (c *Client) Ready(ctx context.Context) error {
	now := c.cfg.Now()
	c.mu.Lock()
	fresh := !c.readyAt.IsZero() && now.Sub(c.readyAt) < c.cfg.ReadyFor
	c.mu.Unlock()
	if fresh {
		return nil
	}
	policies := c.cfg.Policies
	if len(policies) == 0 {
		policies = []string{""}
	}
	for _, policy := range policies {
		input := &lambda.InvokeInput{FunctionName: c.function(policy), Qualifier: optional(c.cfg.Qualifier),
			InvocationType: types.InvocationTypeDryRun}
		if c.cfg.Tenants {
			input.TenantId = aws.String(noTenant)
		}
		if _, err := c.api.Invoke(ctx, input); err != nil {
			return refused(err)
		}
	}
	c.mu.Lock()
	c.readyAt = now
	c.mu.Unlock()
	return nil
}

// noTenant is the tenant ID of callers without a tenant: a function with tenants requires one.
const noTenant = "none"

func (c *Client) tenant(inv execution.Invocation) *string {
	switch {
	case !c.cfg.Tenants:
		return nil
	case inv.Caller.Tenant == "":
		return aws.String(noTenant)
	}
	return &inv.Caller.Tenant
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
