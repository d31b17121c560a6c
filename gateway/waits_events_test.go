package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/policy/audit"
)

func TestEventResumes(t *testing.T) {
	t.Parallel()
	s, _ := waiting(t, options{}, []execution.Waiting{{Seq: 1, Kind: execution.WaitEvent, Name: "replied"}})
	path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	want(t, s.do(t, "POST", path+"/resume", `{"decisions":[{"seq":1,"decision":"approve"}]}`), 400, "kind event")
	// A value that no segment could begin with is refused, and the execution waits on.
	for _, value := range []string{
		"{", "1 2", `"\ud800"`, `{"\udfff":1}`, `{"a":1,"a":2}`, "\"\xff\"", "\ufeff1",
		strings.Repeat("[", execution.MaxDepth+1) + strings.Repeat("]", execution.MaxDepth+1),
	} {
		want(t, s.do(t, "POST", path+"/events/replied", value), 400, "must be valid JSON in UTF-8")
	}
	want(t, s.do(t, "POST", path+"/events/replied", `{"text":"yes"}`), 200, `"value":{"text":"yes"}`)
}

// The name of an event is any text: its percent escapes in the path are decoded once.
func TestEventNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a/b c?d#e", "größe ☃", "50%", "a%2Fb", "..", "+"} {
		s, _ := waiting(t, options{}, []execution.Waiting{{Seq: 1, Kind: execution.WaitEvent, Name: name}})
		path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
		want(t, s.do(t, "POST", path+"/events/%ff", "1"), 400, `"field":"name"`)
		want(t, s.do(t, "POST", path+"/events/"+url.PathEscape(name)+"x", "1"), 409, "does not wait for")
		escaped := strings.ReplaceAll(url.PathEscape(name), ".", "%2E")
		want(t, s.do(t, "POST", path+"/events/"+escaped, "1"), 200, `"value":1`)
	}
}

// changeCounter is a state that counts the changes of jobs, and reads of them.
type changeCounter struct {
	gateway.State
	n, reads, looks atomic.Int64
	looked          chan struct{} // closed at the third look at the status of a job
}

func (c *changeCounter) JobState(ctx context.Context, id string) (execution.Job, error) {
	c.reads.Add(1)
	return c.State.JobState(ctx, id)
}

func (c *changeCounter) JobStatus(ctx context.Context, id string) (execution.Status, error) {
	if c.looks.Add(1) == 3 {
		close(c.looked)
	}
	return c.State.JobStatus(ctx, id)
}

func (c *changeCounter) ChangeJob(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	job, err := c.State.ChangeJob(ctx, id, fn)
	if err == nil {
		c.n.Add(1)
	}
	return job, err
}

func (c *changeCounter) ChangeJobState(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	job, err := c.State.ChangeJobState(ctx, id, fn)
	if err == nil {
		c.n.Add(1)
	}
	return job, err
}

// The value of an event is stored as often as the job changes, which may be a megabyte each time: with the event, with
// the segment that is queued, and with its end. It is not read while its caller waits for the end.
func TestEventIsStoredSeldom(t *testing.T) {
	t.Parallel()
	store := opened(t)
	count := &changeCounter{State: store, looked: make(chan struct{})}
	o := options{state: count, records: &ledger{added: make(chan audit.Record, 100)}}
	f := &sleeper{records: o.records, steps: [][]execution.Waiting{{{Seq: 1, Kind: execution.WaitEvent, Name: "e"}}}}
	o.config.SnapshotKeys = snapshotKeys(t)
	o.invoke = func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		if inv.Resume != nil {
			<-count.looked
		}
		return f.invoke(ctx, inv, onLog)
	}
	s := serve(t, o)
	path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	before, read, began := count.n.Load(), count.reads.Load(), time.Now()
	want(t, s.do(t, "POST", path+"/events/e", "1"), 200, `"status":"completed"`)
	if n := count.n.Load() - before; n > 3 && time.Since(began) < time.Second { // else it has been due for long
		t.Errorf("the job was stored %d times", n)
	}
	if n := count.reads.Load() - read; n > 2 {
		t.Errorf("the job was read %d times", n)
	}
}

// A long answer that comes while a segment runs that does not wait for it reaches the segment after that, and so do
// short and long answers that come together. Once they are received, nothing of them is stored.
func TestLongAnswersArrive(t *testing.T) {
	t.Parallel()
	event := func(seq int) execution.Waiting {
		return execution.Waiting{Seq: seq, Kind: execution.WaitEvent, Name: fmt.Sprint("e", seq)}
	}
	long := func(mark string) string { return `["` + mark + strings.Repeat("<é", 100_000) + `", 1]` }
	began, proceed := make(chan struct{}), make(chan struct{})
	o := options{records: &ledger{added: make(chan audit.Record, 100)}}
	f := &sleeper{records: o.records, steps: [][]execution.Waiting{{event(1), event(2)}, {event(2), event(3)}, {event(3)}}}
	o.config.SnapshotKeys = snapshotKeys(t)
	o.invoke = func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		if inv.Resume != nil && inv.Resume.Segment == 2 {
			began <- struct{}{}
			<-proceed
		}
		return f.invoke(ctx, inv, onLog)
	}
	s := kept(t, o)
	path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	want(t, s.do(t, "POST", path+"/events/e1", long("a"), prefer), 202)
	<-began
	want(t, s.do(t, "POST", path+"/events/e2", long("b"), prefer), 202)
	close(proceed)
	for f.segments() < 3 {
		want(t, s.do(t, "GET", path, ""), 200)
	}
	got := want(t, s.do(t, "POST", path+"/events/e3", long("c")), 200, `"status":"completed"`).json(t)["result"].([]any)
	for i, mark := range []string{"a", "b", "c"} {
		var value any
		if err := json.Unmarshal([]byte(long(mark)), &value); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(got[i].(map[string]any)["value"], value); diff != "" {
			t.Errorf("answer %d is another: %.200s", i+1, diff)
		}
	}
	job, err := s.state.Job(t.Context(), strings.TrimPrefix(path, "/api/executions/"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(job); err != nil || len(text)+len(job.Snapshot) > 10_000 {
		t.Errorf("%d bytes and a snapshot of %d are stored: %v", len(text), len(job.Snapshot), err)
	}
	// The records have the hashes of what the segments got.
	hashes := map[string]bool{}
	for _, r := range o.records.records {
		if r.Decision != nil {
			hashes[r.Decision.ValueSHA256] = true
		}
	}
	for _, mark := range []string{"a", "b", "c"} {
		sum := sha256.Sum256([]byte(strings.Replace(long(mark), ", 1", ",1", 1)))
		if !hashes[hex.EncodeToString(sum[:])] {
			t.Errorf("no record has the hash of the value %s", mark)
		}
	}
}
