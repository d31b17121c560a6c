package sqsqueue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/dynamostate/dynamotest"
	"github.com/airlock-run/airlock/infra/state/sqsqueue"
	"github.com/airlock-run/airlock/infra/state/sqsqueue/sqstest"
)

var (
	server *sqstest.Server
	table  *dynamotest.Server
	bucket *s3test.Server
)

func TestMain(m *testing.M) {
	s3test.SetEnvironment()
	var err, wrong error
	server, err = sqstest.Start()
	table, wrong = dynamotest.Start()
	if err = errors.Join(err, wrong); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if table != nil {
		bucket = s3test.MustStart()
	}
	code := m.Run()
	if server != nil {
		server.Stop()
	}
	if table != nil {
		table.Stop()
		bucket.Stop()
	}
	os.Exit(code)
}

// opened returns a queue at a new URL.
func opened(t *testing.T, cfg sqsqueue.Config, deliveries int) (q *sqsqueue.Queue, url, dead string) {
	t.Helper()
	if server == nil {
		t.Skip(sqstest.Modules + " is not set: make test-dynamo installs fauxqs and sets it")
	}
	url, dead = server.Queue(t, deliveries)
	return open(t, cfg, url), url, dead
}

func open(t *testing.T, cfg sqsqueue.Config, url string) *sqsqueue.Queue {
	t.Helper()
	cfg.Endpoint, cfg.Logger = server.Endpoint, slog.New(slog.NewTextHandler(t.Output(), nil))
	q, err := sqsqueue.Open(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// count returns the numbers of messages that can be received, that are being handled, and that are delayed.
func count(t *testing.T, url string) (visible, handled, delayed int) {
	t.Helper()
	out, err := server.Client().GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url,
		AttributeNames: []types.QueueAttributeName{"All"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]*int{"ApproximateNumberOfMessages": &visible,
		"ApproximateNumberOfMessagesNotVisible": &handled, "ApproximateNumberOfMessagesDelayed": &delayed} {
		if *to, err = strconv.Atoi(out.Attributes[name]); err != nil {
			t.Fatal(err)
		}
	}
	return visible, handled, delayed
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatal(what)
		case <-tick.C:
		}
	}
}

// serving serves queues until the end of the test.
func serving(t *testing.T, handle func(ctx context.Context, id string) error, queues ...*sqsqueue.Queue) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, q := range queues {
		all.Go(func() { q.Serve(ctx, 4, handle) })
	}
	t.Cleanup(func() { stop(); all.Wait() })
}

// Each message is handled and deleted. One whose handling fails, and one of another sender, reach the dead-letter
// queue.
func TestServe(t *testing.T) {
	t.Parallel()
	q, url, dead := opened(t, sqsqueue.Config{Invisible: time.Second}, 2)
	const bad = "exec_0000000bad"
	handled := make(chan string, 100)
	for n := range 20 {
		if err := q.Send(t.Context(), fmt.Sprintf("tenant/%d ☃", n%3), fmt.Sprintf("exec_%010d", n), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Send(t.Context(), "", bad, 0); err != nil {
		t.Fatal(err)
	}
	foreign := "hello"
	if _, err := server.Client().SendMessage(t.Context(),
		&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &foreign}); err != nil {
		t.Fatal(err)
	}
	serving(t, func(_ context.Context, id string) error {
		handled <- id
		if id == bad {
			return errors.New("the table is away")
		}
		return nil
	}, q)
	until(t, "two messages reach the dead-letter queue", func() bool { n, _, _ := count(t, dead); return n == 2 })
	times := map[string]int{}
	for range len(handled) {
		times[<-handled]++
	}
	if times[bad] != 2 || len(times) != 21 {
		t.Errorf("%d jobs were handled, the bad one %d times", len(times), times[bad])
	}
	until(t, "the queue is empty", func() bool { a, b, c := count(t, url); return a+b+c == 0 })
}

// While a message is handled, however long, no other receiver gets it.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	// The machine would have to stall for four seconds before a heartbeat is too late.
	cfg := sqsqueue.Config{Invisible: 6 * time.Second}
	q, url, _ := opened(t, cfg, 10)
	other := open(t, cfg, url)
	if err := q.Send(t.Context(), "t", "exec_0000000001", 0); err != nil {
		t.Fatal(err)
	}
	began, finish := make(chan struct{}, 10), make(chan struct{})
	serving(t, func(context.Context, string) error {
		began <- struct{}{}
		<-finish
		return nil
	}, q, other)
	<-began
	select {
	case <-began:
		t.Error("a message that is being handled was delivered again")
	case <-time.After(10 * time.Second):
	}
	close(finish)
	until(t, "the queue is empty", func() bool { a, b, c := count(t, url); return a+b+c == 0 })
}

// A message whose receiver has died is delivered to another.
func TestReceiverDies(t *testing.T) {
	t.Parallel()
	q, url, _ := opened(t, sqsqueue.Config{}, 10)
	if err := q.Send(t.Context(), "t", "exec_0000000001", 0); err != nil {
		t.Fatal(err)
	}
	out, err := server.Client().ReceiveMessage(t.Context(),
		&sqs.ReceiveMessageInput{QueueUrl: &url, VisibilityTimeout: 1, WaitTimeSeconds: 5})
	if err != nil || len(out.Messages) != 1 {
		t.Fatalf("%d messages, %v", len(out.Messages), err)
	}
	handled := make(chan string, 1)
	serving(t, func(_ context.Context, id string) error { handled <- id; return nil }, q)
	if id := <-handled; id != "exec_0000000001" {
		t.Error(id)
	}
}

// A delay is that of SQS, and at most its longest.
func TestDelay(t *testing.T) {
	t.Parallel()
	q, url, _ := opened(t, sqsqueue.Config{}, 2)
	for _, delay := range []time.Duration{time.Minute, 24 * time.Hour} {
		if err := q.Send(t.Context(), "t", "exec_0000000001", delay); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Send(t.Context(), "t", "exec_0000000001", -time.Second); err != nil {
		t.Fatal(err)
	}
	if visible, _, delayed := count(t, url); visible != 1 || delayed != 2 {
		t.Errorf("%d visible, %d delayed", visible, delayed)
	}
}
