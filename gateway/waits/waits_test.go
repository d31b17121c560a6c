package waits_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/waits"
)

const maxAge = 24 * time.Hour

// A model is the expected state of a paused execution in its simplest form: the open operations, the answered ones, and
// the answers that each segment got.
type model struct {
	status   execution.Status
	segment  int
	open     map[int]string // kind by number
	answered map[int]bool   // not sent yet
	sent     []int
	deadline time.Time
	next     int
	values   map[int]string // of answers
}

// Random steps on a job and on the model agree, and no operation is ever answered twice.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			walk(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

func walk(t *testing.T, random *rand.Rand) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	job := execution.Job{ID: "exec_0123456789", Tenant: "a", Subject: "ann", Status: execution.Running}
	m := &model{status: execution.Running, segment: 1, open: map[int]string{}, answered: map[int]bool{},
		values: map[int]string{}}
	given := map[int]int{}
	for step := range 60 {
		now = now.Add(time.Duration(random.IntN(90)) * time.Minute)
		switch random.IntN(6) {
		case 0, 1:
			m.run(t, random, &job, now, given)
		case 2:
			m.decide(t, random, &job, now)
		case 3:
			m.signal(t, random, &job, now)
		case 4:
			m.elapse(t, &job, now)
		case 5:
			m.queue(t, &job, now, fmt.Sprintf("exec_run%07d", step))
		}
		if job.Status != m.status || job.Wait != nil && job.Wait.Segment != m.segment {
			t.Fatalf("step %d: status %s in segment %d, want %s in %d", step, job.Status, job.Wait.Segment, m.status, m.segment)
		}
		if m.status == execution.Expired {
			break
		}
	}
	for seq, times := range given {
		if times > 1 {
			t.Errorf("operation %d was answered in %d segments", seq, times)
		}
	}
}

// run runs the segment that is queued and pauses again, with what is still open and a few new operations.
func (m *model) run(t *testing.T, random *rand.Rand, job *execution.Job, now time.Time, given map[int]int) {
	t.Helper()
	if m.status != execution.Running && m.status != execution.Queued {
		return
	}
	if job.Wait != nil && random.IntN(2) == 0 {
		putBehind(job)
	}
	r, err := waits.Resume(*job, []byte("s"))
	if err != nil {
		t.Fatal(err)
	}
	if r != nil {
		got := []int{}
		for _, a := range r.Answers {
			if string(a.Value) != m.values[a.Seq] {
				t.Fatalf("the answer to %d is %.10q of %d bytes, want %.10q of %d", a.Seq, a.Value, len(a.Value),
					m.values[a.Seq], len(m.values[a.Seq]))
			}
			got = append(got, a.Seq)
			given[a.Seq]++
		}
		slices.Sort(got)
		slices.Sort(m.sent)
		if !slices.Equal(got, m.sent) {
			t.Fatalf("the segment gets answers to %v, want %v", got, m.sent)
		}
	}
	job.Status = execution.Running
	if job.Wait == nil {
		m.deadline = now.Add(maxAge)
	}
	for range 1 + random.IntN(3) {
		m.next++
		kinds := []string{execution.WaitApproval, execution.WaitEvent, execution.WaitSleep, execution.WaitTool}
		m.open[m.next] = kinds[random.IntN(len(kinds))]
	}
	result := execution.Result{Status: execution.Paused, Environment: execution.Environment{Policy: "standard"}}
	for seq := 1; seq <= m.next; seq++ {
		kind := m.open[seq]
		if kind == "" && !m.answered[seq] {
			continue
		}
		w := execution.Waiting{Seq: seq, Kind: kind, Name: "e"}
		if kind == execution.WaitSleep {
			w.DueAt = now.Add(time.Hour)
		}
		result.Waiting = append(result.Waiting, w)
	}
	before, sealed := job.Snapshot, []byte(strings.Repeat("S", 1+random.IntN(9)))
	waits.Park(job, result, maxAge, now)
	if err := waits.Carry(job.Wait, before, sealed); err != nil {
		t.Fatal(err)
	}
	job.Snapshot, m.status, m.sent = sealed, execution.Paused, nil
}

// putBehind puts the answers of a job behind its snapshot, as older versions did.
func putBehind(job *execution.Job) {
	w := job.Wait
	for i := range w.Pending {
		p := &w.Pending[i]
		if p.Answer == nil || p.Verdict == nil || p.Apart != nil {
			continue
		}
		if w.Sealed == 0 {
			w.Sealed = len(job.Snapshot)
		}
		answer := *p.Answer
		p.Apart = &execution.Apart{From: len(job.Snapshot), Args: len(answer.Args), Value: len(answer.Value)}
		job.Snapshot = append(append(slices.Clip(job.Snapshot), answer.Args...), answer.Value...)
		answer.Args, answer.Value = nil, nil
		p.Answer = &answer
	}
}

// value returns a short or a long value for the answer to an operation.
func (m *model) value(random *rand.Rand, seq int) string {
	return fmt.Sprintf(`"%d%s"`, seq, strings.Repeat("x", random.IntN(2)*17_000))
}

func (m *model) decide(t *testing.T, random *rand.Rand, job *execution.Job, now time.Time) {
	t.Helper()
	seq := 1 + random.IntN(m.next+1)
	kind, before := m.open[seq], job.Wait
	verdict, value := execution.Verdict{Decision: execution.Reject}, ""
	if random.IntN(2) == 0 {
		value = m.value(random, seq)
		verdict = execution.Verdict{Decision: execution.Respond, Value: json.RawMessage(value)}
	}
	err := waits.Decide(job, map[int]execution.Verdict{seq: verdict}, now)
	allowed := job.Wait != nil && (kind == execution.WaitApproval || kind == execution.WaitTool) && now.Before(m.deadline)
	switch {
	case allowed != (err == nil):
		t.Fatalf("deciding about operation %d (%s): %v", seq, kind, err)
	case err != nil && job.Wait != before:
		t.Fatal("a refused decision changed the job")
	case err == nil:
		delete(m.open, seq)
		m.answered[seq], m.values[seq] = true, value
		if again := waits.Decide(job, map[int]execution.Verdict{seq: {Decision: execution.Approve}}, now); again == nil {
			t.Fatal("an operation was decided twice")
		}
	}
}

func (m *model) signal(t *testing.T, random *rand.Rand, job *execution.Job, now time.Time) {
	t.Helper()
	first := 0
	for seq, kind := range m.open {
		if kind == execution.WaitEvent && (first == 0 || seq < first) {
			first = seq
		}
	}
	value := m.value(random, first)
	err := waits.Signal(job, "e", execution.Verdict{Value: json.RawMessage(value)}, now)
	if (err == nil) != (job.Wait != nil && first > 0 && now.Before(m.deadline)) {
		t.Fatalf("an event: %v", err)
	}
	if err == nil {
		delete(m.open, first)
		m.answered[first], m.values[first] = true, value
	}
}

func (m *model) elapse(t *testing.T, job *execution.Job, now time.Time) {
	t.Helper()
	before := *job
	changed, expired := waits.Elapse(job, now)
	if same := reflect.DeepEqual(before.Wait, job.Wait); changed == same {
		t.Fatalf("changed %v, but the job did so:\n%s", changed, cmp.Diff(before.Wait, job.Wait))
	}
	if m.status != execution.Paused {
		if expired {
			t.Fatal("an execution that is not paused expired")
		}
		return
	}
	for _, p := range job.Wait.Pending {
		if p.Kind == execution.WaitSleep && !now.Before(p.DueAt) && m.open[p.Seq] != "" {
			delete(m.open, p.Seq)
			m.answered[p.Seq] = true
		}
	}
	if want := len(m.answered) == 0 && !now.Before(m.deadline); expired != want {
		t.Fatalf("expired %v, want %v", expired, want)
	}
	if expired {
		if err := waits.End(job, execution.Ending{Status: execution.Expired}, now); err != nil {
			t.Fatal(err)
		}
		if waits.Decide(job, map[int]execution.Verdict{1: {Decision: execution.Reject}}, now) == nil {
			t.Fatal("an expired execution was decided about")
		}
		job.Status, m.status = execution.Expired, execution.Expired
	}
}

func (m *model) queue(t *testing.T, job *execution.Job, now time.Time, run string) {
	t.Helper()
	err := waits.Queue(job, run, m.answered, now)
	if (err == nil) != (m.status == execution.Paused && len(m.answered) > 0) {
		t.Fatalf("queue: %v", err)
	}
	if err != nil {
		if !errors.Is(err, waits.ErrNotAnswered) {
			t.Fatal(err)
		}
		return
	}
	m.sent = nil
	for seq := range m.answered {
		m.sent = append(m.sent, seq)
	}
	m.status, m.segment, m.answered = execution.Queued, m.segment+1, map[int]bool{}
}

// The values of answers that an execution has not continued with are bounded together. One answer of any size fits, and
// more once a segment has received them.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	var waiting []execution.Waiting
	for seq := range 8 {
		waiting = append(waiting, execution.Waiting{Seq: seq, Kind: execution.WaitEvent, Name: "e"},
			execution.Waiting{Seq: 100 + seq, Kind: execution.WaitTool, Tool: "ask"})
	}
	now := time.Now()
	value := json.RawMessage(`"` + strings.Repeat("x", 700<<10) + `"`)
	signal := func(j *execution.Job) error {
		return waits.Signal(j, "e", execution.Verdict{Decision: execution.Signal, Value: value}, now)
	}
	respond := func(j *execution.Job) error {
		return waits.Decide(j, map[int]execution.Verdict{100: {Decision: execution.Respond, Value: value}}, now)
	}
	for _, c := range []struct {
		name          string
		first, second func(*execution.Job) error
	}{
		{"two events", signal, signal}, {"a decision after an event", signal, respond},
		{"an event after a decision", respond, signal},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := execution.Job{ID: "exec_0123456789", Status: execution.Running}
			result := execution.Result{Pause: execution.Pause{Waiting: waiting}}
			waits.Park(&job, result, maxAge, now)
			if err := c.first(&job); err != nil {
				t.Fatalf("the first: %v", err)
			}
			if refused := (*waits.Refusal)(nil); !errors.As(c.second(&job), &refused) || refused.Invalid {
				t.Fatalf("the second is not refused for now: %v", refused)
			}
			sent := map[int]bool{}
			for _, p := range job.Wait.Pending {
				sent[p.Seq] = p.Answer != nil
			}
			if err := waits.Queue(&job, "exec_1123456789", sent, now); err != nil {
				t.Fatal(err)
			}
			result.Waiting = slices.DeleteFunc(slices.Clone(waiting), func(w execution.Waiting) bool { return sent[w.Seq] })
			result.Waiting = append(result.Waiting, execution.Waiting{Seq: 100, Kind: execution.WaitTool, Tool: "ask"})
			waits.Park(&job, result, maxAge, now)
			if err := c.second(&job); err != nil {
				t.Errorf("the second, after the segment: %v", err)
			}
		})
	}
}

// A segment gets no answer that is not the one that the verdict was about, wherever it was stored.
func TestAnswersOfVerdicts(t *testing.T) {
	t.Parallel()
	now := time.Now()
	value := json.RawMessage(`"` + strings.Repeat("x", 5000) + `"`)
	other := json.RawMessage(`"` + strings.Repeat("y", 5000) + `"`)
	queued := func(t *testing.T) *execution.Job {
		job := &execution.Job{ID: "exec_0123456789", Status: execution.Running}
		result := execution.Result{Pause: execution.Pause{Waiting: []execution.Waiting{
			{Seq: 1, Kind: execution.WaitEvent, Name: "e"}, {Seq: 2, Kind: execution.WaitTool, Tool: "pay"},
		}}}
		waits.Park(job, result, maxAge, now)
		job.Snapshot = []byte("snapshot")
		err := errors.Join(waits.Signal(job, "e", execution.Verdict{Value: value}, now),
			waits.Decide(job, map[int]execution.Verdict{2: {Decision: execution.Respond, Value: other}}, now))
		if err == nil {
			err = waits.Queue(job, "exec_1123456789", map[int]bool{1: true, 2: true}, now)
		}
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	if _, err := waits.Resume(*queued(t), []byte("s")); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*execution.Job){
		"altered": func(j *execution.Job) { j.Wait.Pending[0].Answer.Value = json.RawMessage(`"x"`) },
		"removed": func(j *execution.Job) { j.Wait.Pending[0].Answer.Value = nil },
		"swapped": func(j *execution.Job) {
			a, b := j.Wait.Pending[0].Answer, j.Wait.Pending[1].Answer
			a.Value, b.Value = b.Value, a.Value
		},
		"altered behind the snapshot": func(j *execution.Job) { putBehind(j); j.Snapshot[len("snapshot")+7]++ },
		"cut behind the snapshot":     func(j *execution.Job) { putBehind(j); j.Snapshot = j.Snapshot[:100] },
	} {
		t.Run(name, func(t *testing.T) {
			job := queued(t)
			change(job)
			if _, err := waits.Resume(*job, []byte("s")); !errors.Is(err, waits.ErrSealed) {
				t.Errorf("it continues: %v", err)
			}
		})
	}
}

// The answer that a decision gives to an operation.
func TestDecisions(t *testing.T) {
	t.Parallel()
	approval := execution.Waiting{Seq: 1, Kind: execution.WaitApproval, Tool: "pay", Args: json.RawMessage(`{"n":1}`)}
	question := execution.Waiting{Seq: 1, Kind: execution.WaitApproval, Title: "go on?"}
	call := execution.Waiting{Seq: 1, Kind: execution.WaitTool, Tool: "ask"}
	for _, c := range []struct {
		name    string
		waiting execution.Waiting
		verdict execution.Verdict
		want    string // the answer; "" for a refusal
	}{
		{"a call is approved", approval, execution.Verdict{Decision: execution.Approve}, `{"seq":1,"call":true}`},
		{"a call is edited", approval, execution.Verdict{Decision: execution.Edit, Args: json.RawMessage(`{"n":2}`)},
			`{"seq":1,"call":true,"args":{"n":2}}`},
		{"a call is answered", approval, execution.Verdict{Decision: execution.Respond, Value: json.RawMessage("3")},
			`{"seq":1,"value":3}`},
		{"a call is rejected", approval, execution.Verdict{Decision: execution.Reject, Reason: "too much"},
			`{"seq":1,"error":"the request was rejected: too much","errorName":"RejectedError"}`},
		{"a question is approved", question, execution.Verdict{Decision: execution.Approve}, `{"seq":1,"value":true}`},
		{"a question is edited", question, execution.Verdict{Decision: execution.Edit}, ""},
		{"a durable call is answered", call, execution.Verdict{Decision: execution.Respond, Value: json.RawMessage("3")},
			`{"seq":1,"value":3}`},
		{"a durable call is approved", call, execution.Verdict{Decision: execution.Approve}, ""},
		{"a sleep is rejected", execution.Waiting{Seq: 1, Kind: execution.WaitSleep},
			execution.Verdict{Decision: execution.Reject}, ""},
		{"an unknown decision", approval, execution.Verdict{Decision: "maybe"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := execution.Job{ID: "exec_0123456789", Status: execution.Running}
			now := time.Now()
			waits.Park(&job, execution.Result{Pause: execution.Pause{Waiting: []execution.Waiting{c.waiting}}}, maxAge, now)
			err := waits.Decide(&job, map[int]execution.Verdict{1: c.verdict}, now)
			if c.want == "" {
				if refused := (*waits.Refusal)(nil); !errors.As(err, &refused) || !refused.Invalid {
					t.Fatalf("got %v", err)
				}
				return
			}
			got, encoding := json.Marshal(job.Wait.Pending[0].Answer)
			if err != nil || encoding != nil || string(got) != c.want {
				t.Errorf("got %s, %v, %v; want %s", got, err, encoding, c.want)
			}
		})
	}
}

// A segment is repeated a bounded number of times; the next segment may be repeated as often.
func TestAgain(t *testing.T) {
	t.Parallel()
	job := execution.Job{ID: "exec_0123456789", Status: execution.Running}
	repeat := func() (n int) {
		for ; waits.Again(&job, fmt.Sprintf("exec_again%05d", n), time.Now()) && n < 100; n++ {
			if job.Status != execution.Queued || job.RunID() != fmt.Sprintf("exec_again%05d", n) {
				t.Fatalf("%s, %s", job.Status, job.RunID())
			}
			job.Status = execution.Running
		}
		return n
	}
	if n := repeat(); n != 10 {
		t.Errorf("the first segment is repeated %d times", n)
	}
	job.Status = execution.Paused
	job.Wait.Pending = []execution.Pending{{Waiting: execution.Waiting{Seq: 1}, Answer: &execution.Answer{Seq: 1}}}
	if err := waits.Queue(&job, "exec_segment0002", map[int]bool{1: true}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if n := repeat(); n != 10 {
		t.Errorf("the second segment is repeated %d times", n)
	}
}
