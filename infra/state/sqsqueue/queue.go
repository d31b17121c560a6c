package sqsqueue

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/awsconfig"
	"github.com/airlock-run/airlock/policy/outbound"
)

const (
	// maxBatch is the number of messages that SQS delivers at most at once, and maxDelay is its longest delay.
	maxBatch, maxDelay = 10, 15 * time.Minute
	// longPoll is how long SQS waits for a message before it responds with none.
	longPoll = 20 * time.Second
	// maxAnswer bounds an answer: ten messages of less than 1 KiB.
	maxAnswer = 1 << 20
)

// A Queue is a standard queue of SQS. It is safe for concurrent use.
type Queue struct {
	cfg    Config
	url    string
	client *sqs.Client
}

// Config configures a Queue. The zero value has the defaults.
type Config struct {
	// Endpoint is the URL of a service other than SQS.
	Endpoint string
	// Attempts is the number of attempts of a request. Default 4.
	Attempts int
	// Invisible is how long a message is invisible to other receivers after each sign of life of its receiver, of which
	// there are three in that time. Default 30 seconds.
	Invisible time.Duration
	// Logger is where failures go. Default slog.Default.
	Logger *slog.Logger
}

// Open returns the queue at a URL. It sends no request.
func Open(ctx context.Context, url string, cfg Config) (*Queue, error) {
	limits := outbound.Limits{Body: maxAnswer, Total: longPoll + 5*time.Second}
	loaded, err := awsconfig.Load(ctx, limits, config.WithRetryer(func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff, o.RateLimiter = cmp.Or(cfg.Attempts, 4), time.Second, ratelimit.None
		})
	}))
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	cfg.Invisible = cmp.Or(cfg.Invisible, 30*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	client := sqs.NewFromConfig(loaded, func(o *sqs.Options) {
		if cfg.Endpoint != "" {
			o.BaseEndpoint = &cfg.Endpoint
		}
		if c, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
			o.HTTPClient = c.WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = 16 })
		}
		o.HTTPClient = awsconfig.Bounded(limits, o.HTTPClient)
	})
	return &Queue{cfg: cfg, url: url, client: client}, nil
}

// Send sends a message about a job, which is delivered after a delay of at most 15 minutes. A receiver that gets it too
// early sends another.
func (q *Queue) Send(ctx context.Context, tenant, id string, delay time.Duration) error {
	group := sha256.Sum256([]byte(tenant))
	seconds := (min(max(delay, 0), maxDelay) + time.Second - 1) / time.Second
	_, err := q.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, DelaySeconds: int32(seconds),
		MessageBody:    aws.String(string(execution.RunDuePayload(id))),
		MessageGroupId: aws.String(hex.EncodeToString(group[:]))})
	if err != nil {
		return fmt.Errorf("send to %s: %w", q.url, err)
	}
	return nil
}

// Serve passes the jobs of messages to handle, at most so many at once, until ctx ends, and then waits for those that
// are being handled. The context of handle does not end.
func (q *Queue) Serve(ctx context.Context, places int, handle func(ctx context.Context, id string) error) {
	free := make(chan struct{}, places)
	var busy sync.WaitGroup
	defer busy.Wait()
	for failed := 0; ; {
		select {
		case <-ctx.Done():
			return
		case free <- struct{}{}:
		}
		taken := 1
		for taken < maxBatch && len(free) < places {
			free <- struct{}{}
			taken++
		}
		messages, err := q.receive(ctx, taken)
		for range taken - len(messages) {
			<-free
		}
		for _, m := range messages {
			busy.Go(func() {
				defer func() { <-free }()
				q.handle(context.WithoutCancel(ctx), m, handle)
			})
		}
		if failed++; err == nil {
			failed = 0
		} else if ctx.Err() == nil {
			q.cfg.Logger.Error("a queue cannot be read", "queue", q.url, "error", err)
			pause(ctx, min(time.Second<<min(failed, 5), 30*time.Second))
		}
	}
}

func (q *Queue) receive(ctx context.Context, most int) ([]types.Message, error) {
	out, err := q.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q.url,
		MaxNumberOfMessages: int32(most), WaitTimeSeconds: int32(longPoll / time.Second),
		VisibilityTimeout: seconds(q.cfg.Invisible)})
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

func seconds(d time.Duration) int32 { return int32((d + time.Second - 1) / time.Second) }

// handle handles a message, and keeps it invisible meanwhile.
func (q *Queue) handle(ctx context.Context, m types.Message, handle func(ctx context.Context, id string) error) {
	id, is, err := execution.DecodeRunDue([]byte(aws.ToString(m.Body)))
	if err != nil || !is {
		q.cfg.Logger.Error("a message is not one of a gateway; it goes to the dead-letter queue", "queue", q.url,
			"message", aws.ToString(m.MessageId))
		return
	}
	beating, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { q.beat(beating, m) })
	err = handle(ctx, id)
	stop()
	done.Wait()
	if err == nil {
		_, err = q.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle})
	}
	if err != nil {
		q.cfg.Logger.Error("a message will be delivered again", "queue", q.url, "execution", id, "error", err)
	}
}

// beat keeps a message invisible until ctx ends. If that fails, another receiver gets the message, which is harmless.
func (q *Queue) beat(ctx context.Context, m types.Message) {
	for pause(ctx, q.cfg.Invisible/3) {
		_, err := q.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q.url,
			ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: seconds(q.cfg.Invisible)})
		if err != nil && ctx.Err() == nil {
			q.cfg.Logger.Warn("a message may be delivered twice", "queue", q.url, "error", err)
		}
	}
}

// pause waits for a time, and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
