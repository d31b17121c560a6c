package share_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// A job is decoded as it was encoded, and what it is kept in has the size of the values in it.
func TestEncodeJobs(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		`"` + strings.Repeat("<&>\u2028", 10_000) + `"`, `"` + strings.Repeat(`\"`, 10_000) + `"`, `"\u0000\ud83d\ude00"`,
		`[1e400,-0,1.50,` + strings.Repeat("{},", 10_000) + `null]`,
	} {
		job := execution.Job{ID: "exec_1", Tenant: "<&>", ReceivedAt: time.Unix(1, 5).UTC(),
			Callback: &execution.Callback{URL: "https://a.example/?a=1&b=2"}}
		job.Wait = &execution.Wait{Pending: []execution.Pending{{Answer: &execution.Answer{Value: json.RawMessage(value)}}}}
		text, err := share.Encode(job)
		if err != nil {
			t.Fatal(err)
		}
		if most := len(value) + 2000; len(text) > most {
			t.Errorf("%.20s: %d bytes, want at most %d", value, len(text), most)
		}
		var got execution.Job
		if err := share.Decode(text, &got); err != nil || !reflect.DeepEqual(got, job) {
			t.Errorf("%.20s: %v, or another job", value, err)
		}
		old, err := json.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		var same execution.Job
		if err := share.Decode(old, &same); err != nil || same.ID != job.ID {
			t.Errorf("%.20s: what older versions stored: %v", value, err)
		}
	}
}

// longJob returns a paused job with long values, and some that are too short to be stored beside it.
func longJob() execution.Job {
	value := func(letter string, size int) json.RawMessage {
		return json.RawMessage(`"` + strings.Repeat(letter, size) + `"`)
	}
	return execution.Job{ID: "exec_1", Status: execution.Paused, Waits: execution.Waits{Wait: &execution.Wait{
		Pending: []execution.Pending{
			{Waiting: execution.Waiting{Seq: 1, Args: value("a", 5000), Schema: value("s", 10)}},
			{Waiting: execution.Waiting{Seq: 2, Args: value("b", 10), Schema: value("t", 5000)},
				Answer: &execution.Answer{Seq: 2, Call: true, Args: value("c", 6000)}},
			{Waiting: execution.Waiting{Seq: 3}, Answer: &execution.Answer{Seq: 3, Value: value("d", 6000)}},
			{Waiting: execution.Waiting{Seq: 4}, Answer: &execution.Answer{Seq: 4, Value: value("e", 10)}},
			{Waiting: execution.Waiting{Seq: 5}, Answer: &execution.Answer{Seq: 5},
				Apart: &execution.Apart{From: 100, Args: 20, Value: 30}}, // of an older version
		},
	}}}
}

// A job with long values is decoded as it was encoded. Its document is short, and encoding it changes nothing in it.
func TestLongValuesAreAside(t *testing.T) {
	t.Parallel()
	job, same := longJob(), longJob()
	doc, aside, err := share.EncodeJob(job)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(job, same) {
		t.Error("encoding a job changes it")
	}
	if len(doc) > 3000 || aside.Len() < 22_000 {
		t.Errorf("%d bytes, and %d beside", len(doc), aside.Len())
	}
	got, err := share.DecodeJob(doc, aside.Bytes())
	if err != nil || !reflect.DeepEqual(got, job) {
		t.Errorf("%v, or another job", err)
	}
	if !share.Same(share.Aside(got), aside.Bytes()) {
		t.Error("what is beside it has changed")
	}
	job.Status = execution.Completed
	if doc, aside, err = share.EncodeJob(job); err != nil || len(aside) > 0 || len(doc) > 3000 {
		t.Errorf("ended: %d bytes, %d parts beside, %v", len(doc), len(aside), err)
	}
}

// A document is not read with what belongs to another one, however that is made.
func TestOthersAside(t *testing.T) {
	t.Parallel()
	doc, parts, err := share.EncodeJob(longJob())
	if err != nil {
		t.Fatal(err)
	}
	aside := parts.Bytes()
	bad := map[string][]byte{"nothing": nil, "more": append(bytes.Clone(aside), "9 0 1\n"...)}
	for _, head := range []string{
		"1 0 99999", "1 0 -1", "1 0", "x y z", "1 0 9223372036854775807", "", strings.Repeat("1", 200),
	} {
		line := head + "\n"
		bad[head] = append([]byte(line), aside[min(len(line), len(aside)):]...)
	}
	for n := range 300 {
		bad["the first "+strconv.Itoa(n)] = aside[:n]
	}
	older := bytes.Replace(doc, []byte(`"aside":`), []byte(`"other":`), 1) // it does not say how much is beside it
	for name, b := range bad {
		for _, doc := range [][]byte{doc, older} {
			if _, err := share.DecodeJob(doc, b); !errors.Is(err, share.ErrAside) {
				t.Errorf("%.30s: %v", name, err)
			}
		}
	}
}

// A document whose long values are lost is decoded without them. Such a job is only written to end it.
func TestLostAside(t *testing.T) {
	t.Parallel()
	doc, _, err := share.EncodeJob(longJob())
	if err != nil {
		t.Fatal(err)
	}
	job, err := share.DecodeAlone(doc)
	if err != nil {
		t.Fatal(err)
	}
	if !job.Wait.Lost || len(job.Wait.Pending) != 5 {
		t.Errorf("%+v", job.Wait)
	}
	if schema := job.Wait.Pending[1].Schema; schema != nil {
		t.Errorf("an answer has to fit %s", schema)
	}
	if err := share.MayWrite(job); !errors.Is(err, execution.ErrContentLost) {
		t.Errorf("written: %v", err)
	}
	ending := job
	ending.Wait = job.Wait.Clone()
	ending.Wait.Ending = &execution.Ending{}
	job.Status = execution.Expired
	for _, j := range []execution.Job{job, ending, longJob(), {}} {
		if err := share.MayWrite(j); err != nil {
			t.Error(err)
		}
	}
	if doc, parts, err := share.EncodeJob(ending); err != nil || len(parts) > 0 {
		t.Errorf("%d parts, %v", len(parts), err)
	} else if again, err := share.DecodeJob(doc, nil); err != nil || again.Wait.Lost {
		t.Errorf("read again: %v", err)
	}
}

// A version that knows of no long values decodes a document, changes it and encodes it again. Nothing is lost, and what
// such a version would continue with is refused by it.
func TestOlderVersionsKeepAsides(t *testing.T) {
	t.Parallel()
	want := longJob()
	doc, aside, err := share.EncodeJob(want)
	if err != nil {
		t.Fatal(err)
	}
	var old execution.Job
	if err := share.Decode(doc, &old); err != nil {
		t.Fatal(err)
	}
	old.Wait.Aside = 0
	for _, i := range []int{1, 2} {
		if p := old.Wait.Pending[i]; p.Apart == nil || p.Apart.From < 1<<30 {
			t.Errorf("operation %d: the older version looks for its answer at %+v", p.Seq, p.Apart)
		}
	}
	old.Wait.Pending = old.Wait.Pending[1:]
	want.Wait.Pending = want.Wait.Pending[1:]
	again, err := share.Encode(old)
	if err != nil {
		t.Fatal(err)
	}
	got, err := share.DecodeJob(again, aside.Bytes())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, or another job", err)
	}
}

// FuzzDecodeJob decodes whatever is beside a document that older versions have written: they drop its size.
func FuzzDecodeJob(f *testing.F) {
	doc, parts, err := share.EncodeJob(longJob())
	if err != nil {
		f.Fatal(err)
	}
	size := []byte(`,"aside":` + strconv.Itoa(parts.Len()))
	if !bytes.Contains(doc, size) {
		f.Fatalf("%.200s", doc)
	}
	doc = bytes.Replace(doc, size, nil, 1)
	for _, n := range []int{0, 3, 7, 8, 9, 1000, parts.Len()} {
		f.Add(parts.Bytes()[:n])
	}
	f.Add([]byte("1 0 2"))
	f.Fuzz(func(t *testing.T, aside []byte) {
		if _, err := share.DecodeJob(doc, aside); err != nil && !errors.Is(err, share.ErrAside) {
			t.Fatal(err)
		}
	})
}
