package replystream_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/replystream"
)

const (
	log    = `{"log":{"level":"log","message":"one","atMs":1}}` + "\n"
	result = `{"result":{"id":"exec_0123456789","status":"completed","result":1}}` + "\n"
)

func invocation() execution.Invocation { return execution.Invocation{ID: "exec_0123456789"} }

// read returns the result of an answer that is cut into pieces of size n.
func read(text string, n int) (execution.Reply, []execution.Log, error) {
	var logs []execution.Log
	a := replystream.New(invocation(), func(l execution.Log) { logs = append(logs, l) })
	for rest := []byte(text); len(rest) > 0; {
		cut := min(n, len(rest))
		piece := append([]byte{}, rest[:cut]...)
		a.Take(piece)
		clear(piece) // nothing of it may have been kept
		rest = rest[cut:]
	}
	r, err := a.Reply()
	return r, logs, err
}

func TestReply(t *testing.T) {
	cases := map[string]struct {
		text string
		code execution.Code // "" is a good result
	}{
		"a result":                {result, ""},
		"logs and a result":       {log + log + result, ""},
		"the most logs":           {strings.Repeat(log, 10_001) + result, ""},
		"too many logs":           {strings.Repeat(log, 10_002) + result, execution.Internal},
		"an error":                {log + `{"error":{"code":"unrecorded","message":"x"}}` + "\n", execution.Unrecorded},
		"an unknown error":        {`{"error":{"code":"other","message":"x"}}` + "\n", execution.Internal},
		"nothing":                 {"", execution.Internal},
		"logs only":               {log, execution.Internal},
		"no end of line":          {strings.TrimSpace(result), execution.Internal},
		"two results":             {result + result, execution.Internal},
		"an empty line":           {"\n" + result, execution.Internal},
		"of another execution":    {strings.Replace(result, "exec_0", "exec_1", 1), execution.Internal},
		"a status of none":        {strings.Replace(result, "completed", "queued", 1), execution.Internal},
		"log and result in one":   {strings.Replace(result, "{", `{"log":{},`, 1), execution.Internal},
		"something else":          {`{"hello":1}` + "\n", execution.Internal},
		"what is not JSON":        {"hello\n", execution.Internal},
		"something after its end": {result + "x", execution.Internal},
		"a negative wait in error": {`{"error":{"code":"throttled","message":"x","retryAfter":-5}}` + "\n",
			execution.Throttled},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 7, len(c.text) + 1} {
				r, _, err := read(c.text, n)
				var e *execution.Error
				switch {
				case c.code == "" && (err != nil || !r.Recorded || r.Result.Logs == nil || r.Result.Violations == nil):
					t.Errorf("in pieces of %d: %+v, %v", n, r, err)
				case c.code != "" && (!errors.As(err, &e) || e.Code != c.code || e.RetryAfter < 0):
					t.Errorf("in pieces of %d: %v", n, err)
				}
			}
		})
	}
}

func TestCutShort(t *testing.T) {
	a := replystream.New(invocation(), nil)
	a.Take([]byte(log + log + `{"log":{"level":"lo`))
	r := a.CutShort(replystream.TimedOut, 1500*time.Microsecond, 700*time.Microsecond)
	if r.Recorded || len(r.Result.Logs) != 2 {
		t.Errorf("recorded: %v; logs: %v", r.Recorded, r.Result.Logs)
	}
	type outcome struct {
		status      execution.Status
		limit       string
		output      string
		wallMs, cpu float64
	}
	got := outcome{r.Result.Status, *r.Result.Limit, r.Result.Output, r.Result.Usage.WallMs, r.Result.Usage.CPUMs}
	if want := (outcome{execution.TimedOut, execution.LimitWall, "one\none\n", 1.5, 0.7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, end := range []replystream.Ending{replystream.Crashed, replystream.OutOfMemory, replystream.Cancelled,
		replystream.Stopped} {
		r := replystream.New(invocation(), nil).CutShort(end, 0, 0)
		if r.Result.Error == nil || r.Result.Logs == nil {
			t.Errorf("%d: no error or no list of logs: %+v", end, r.Result)
		}
		if r.Result.Engine != "quickjs" || r.Result.Policy != "standard" {
			t.Errorf("%d: %s under %s", end, r.Result.Engine, r.Result.Policy)
		}
	}
}

// FuzzTake checks that an answer has the same result however it is cut, and that a valid one keeps the contract.
func FuzzTake(f *testing.F) {
	for _, text := range []string{"", log, result, log + result, log + result + log, "{}\n", "\xff\n",
		`{"result":{"id":"exec_0123456789","status":"error"}}` + "\n"} {
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		whole, wholeLogs, wholeErr := read(text, len(text)+1)
		cut, cutLogs, cutErr := read(text, int(n)+1)
		if !reflect.DeepEqual(whole, cut) || (wholeErr == nil) != (cutErr == nil) || !reflect.DeepEqual(wholeLogs, cutLogs) {
			t.Fatalf("whole: %+v, %v\ncut: %+v, %v", whole, wholeErr, cut, cutErr)
		}
		var e *execution.Error
		if wholeErr != nil && (!errors.As(wholeErr, &e) || strings.Contains(e.Message, "\n")) {
			t.Fatalf("%v", wholeErr)
		}
		if wholeErr == nil && (whole.Result.ID != invocation().ID || !whole.Recorded) {
			t.Fatalf("%+v", whole)
		}
	})
}
