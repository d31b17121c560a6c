package waits_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/waits"
)

func keys(t *testing.T, text string) *waits.Keys {
	t.Helper()
	k, err := waits.ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// parked returns a job that has paused, and the same job when its next segment is queued.
func parked(t *testing.T) (paused, queued execution.Job) {
	t.Helper()
	now := time.Now()
	paused = execution.Job{ID: "exec_0123456789", Tenant: "a", Subject: "ann", Status: execution.Running,
		Request: execution.Request{Code: "await airlock.approve({title: 'x'})"}}
	waits.Park(&paused, execution.Result{Environment: execution.Environment{Policy: "standard", EngineBuild: "one"},
		Pause: execution.Pause{Waiting: []execution.Waiting{{Seq: 1, Kind: execution.WaitApproval}}}}, maxAge, now)
	queued = paused
	if err := waits.Decide(&queued, map[int]execution.Verdict{1: {Decision: execution.Approve}}, now); err != nil {
		t.Fatal(err)
	}
	if err := waits.Queue(&queued, "exec_9876543210", map[int]bool{1: true}, now); err != nil {
		t.Fatal(err)
	}
	return paused, queued
}

// A snapshot of a request with long sources is bound to all of them.
func TestLongSourcesAreBound(t *testing.T) {
	t.Parallel()
	const long = 3 << 19
	k := keys(t, waits.NewKey("one"))
	paused, queued := parked(t)
	request := func(code, file string) execution.Request {
		return execution.Request{Code: code, Files: map[string]execution.File{
			"a.js": execution.File(strings.Repeat("x", long)), "b.js": execution.File(file),
		}}
	}
	paused.Request = request("1", "2")
	sealed, err := k.Seal(paused, []byte("state"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		request execution.Request
		opens   bool
	}{
		{"the same", request("1", "2"), true},
		{"other code", request("2", "2"), false},
		{"another file", request("1", "3"), false},
		{"no file", execution.Request{Code: "1"}, false},
		{"another input", func() execution.Request {
			r := request("1", "2")
			r.Input = []byte("3")
			return r
		}(), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			queued := queued
			queued.Request = c.request
			if _, err := k.Open(queued, sealed); (err == nil) != c.opens {
				t.Errorf("it opens: %v", err)
			}
		})
	}
}

// refused reports whether a snapshot was refused under a name.
func refused(err error) bool {
	return errors.Is(err, waits.ErrSealed) || errors.Is(err, waits.ErrNoKey)
}

// A snapshot opens for the segment that continues from it, and for nothing else.
func TestKeys(t *testing.T) {
	t.Parallel()
	one, two := waits.NewKey("one"), waits.NewKey("two")
	paused, queued := parked(t)
	sealed, err := keys(t, one).Seal(paused, []byte("the guest's memory"))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := keys(t, two+","+one).Open(queued, sealed); err != nil || string(plain) != "the guest's memory" {
		t.Fatalf("after a new key was put first: %q, %v", plain, err)
	}
	for _, c := range []struct {
		name   string
		keys   string
		change func(j *execution.Job)
	}{
		{"another deployment's key of the same name", waits.NewKey("one"), nil},
		{"another tenant", one, func(j *execution.Job) { j.Tenant = "b" }},
		{"another subject", one, func(j *execution.Job) { j.Subject = "bob" }},
		{"another execution", one, func(j *execution.Job) { j.ID = "exec_0000000000" }},
		{"a later segment", one, func(j *execution.Job) { j.Wait.Segment++ }},
		{"an earlier segment", one, func(j *execution.Job) { j.Wait.Segment-- }},
		{"another engine", one, func(j *execution.Job) { j.Wait.EngineBuild = "two" }},
		{"another tier", one, func(j *execution.Job) { j.Wait.Tier = "agent" }},
		{"other code", one, func(j *execution.Job) { j.Request.Code = "1" }},
		{"other tools", one, func(j *execution.Job) { j.Request.Tools = []execution.Tool{{Name: "pay"}} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, job := parked(t)
			if c.change != nil {
				c.change(&job)
			}
			if _, err := keys(t, c.keys).Open(job, sealed); !errors.Is(err, waits.ErrSealed) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := keys(t, two).Open(queued, sealed); !errors.Is(err, waits.ErrNoKey) || errors.Is(err, waits.ErrSealed) {
		t.Errorf("without its key: %v", err)
	}
	whole, named := execution.Job{}, execution.Job{}
	whole.Wait, whole.Snapshot = &execution.Wait{}, sealed
	named.Wait, named.SnapshotBytes = &execution.Wait{}, len(sealed)
	if err := keys(t, one).Has(named); !errors.Is(err, waits.ErrApart) {
		t.Errorf("without its snapshot: %v", err)
	}
	if err := waits.Carry(named.Wait, nil, sealed); err != nil {
		t.Fatal(err)
	}
	for _, j := range []execution.Job{whole, named} {
		if err := keys(t, two).Has(j); !errors.Is(err, waits.ErrNoKey) || !strings.Contains(err.Error(), `"one"`) {
			t.Errorf("its key is missing, and the error is %v", err)
		}
		if err := keys(t, two+","+one).Has(j); err != nil {
			t.Errorf("its key is the second, and the error is %v", err)
		}
	}
	for i := range sealed {
		changed := append([]byte(nil), sealed...)
		changed[i] ^= 1
		if _, err := keys(t, one).Open(queued, changed); !refused(err) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if _, err := keys(t, one).Open(queued, sealed[:i]); !errors.Is(err, waits.ErrSealed) {
			t.Fatalf("cut after %d bytes: %v", i, err)
		}
	}
}

// The snapshot of a session opens for the session and the step that made it.
func TestSessionKeys(t *testing.T) {
	t.Parallel()
	k := keys(t, waits.NewKey("one"))
	job := execution.Job{ID: "sess_0123456789", Tenant: "a", Subject: "ann", Waits: execution.Waits{
		Wait: &execution.Wait{Segment: 2, Tier: "standard", EngineBuild: "one", Session: &execution.Session{}}}}
	var err error
	if job.Snapshot, err = k.Seal(job, []byte("state")); err != nil {
		t.Fatal(err)
	}
	if plain, err := k.OpenStep(job, job.Snapshot, 2); err != nil || string(plain) != "state" {
		t.Fatalf("got %q, %v", plain, err)
	}
	for name, change := range map[string]func(j *execution.Job){
		"another session": func(j *execution.Job) { j.ID = "sess_0000000000" },
		"an execution":    func(j *execution.Job) { j.ID = "exec_0123456789" },
		"another tenant":  func(j *execution.Job) { j.Tenant = "b" },
	} {
		other := job
		other.Wait = job.Wait.Clone()
		change(&other)
		if _, err := k.OpenStep(other, job.Snapshot, 2); !errors.Is(err, waits.ErrSealed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := k.OpenStep(job, job.Snapshot, 1); !errors.Is(err, waits.ErrSealed) {
		t.Errorf("another step: %v", err)
	}
	if _, err := k.Open(job, job.Snapshot); !errors.Is(err, waits.ErrSealed) {
		t.Errorf("as a paused execution: %v", err)
	}
}

func TestParseKeys(t *testing.T) {
	t.Parallel()
	one := waits.NewKey("one")
	for _, c := range []struct{ name, text string }{
		{"nothing", ""}, {"no name", one[3:]}, {"a short key", "one:c2hvcnQ="}, {"not base64", "one:!"},
		{"a name twice", one + "," + waits.NewKey("one")}, {"an empty entry", one + ","},
	} {
		if _, err := waits.ParseKeys(c.text); err == nil {
			t.Errorf("%s was accepted", c.name)
		}
	}
}

// An execution whose first pause was lost with its process pauses again, and then has all its time.
func TestFirstPauseLost(t *testing.T) {
	t.Parallel()
	now := time.Now()
	job := execution.Job{ID: "exec_0123456789", Status: execution.Running}
	waits.Again(&job, "exec_9876543210", now)
	waits.Park(&job, execution.Result{Pause: execution.Pause{
		Waiting: []execution.Waiting{{Seq: 1, Kind: execution.WaitApproval}}}}, maxAge, now)
	if !job.Wait.ExpiresAt.Equal(now.Add(maxAge)) || !job.Wait.Since.Equal(now) {
		t.Errorf("it waits since %v until %v", job.Wait.Since, job.Wait.ExpiresAt)
	}
	if _, expired := waits.Elapse(&job, now); expired {
		t.Error("it has expired")
	}
}

// A generator of passwords makes 43 letters and digits, which are a key without a name.
func TestGeneratedKey(t *testing.T) {
	t.Parallel()
	paused, queued := parked(t)
	generated := strings.Repeat("aZ9", 14) + "k"
	sealed, err := keys(t, generated).Seal(paused, []byte("state"))
	if err != nil {
		t.Fatal(err)
	}
	rotated := keys(t, waits.NewKey("k2")+","+generated)
	if plain, err := rotated.Open(queued, sealed); err != nil || string(plain) != "state" {
		t.Errorf("got %q, %v", plain, err)
	}
}

func FuzzOpen(f *testing.F) {
	k, err := waits.ParseKeys(waits.NewKey("one"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("ALS1\x03one"))
	f.Add([]byte("ALS1\xff"))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		_, job := parked(t)
		if _, err := k.Open(job, sealed); !refused(err) {
			t.Errorf("got %v", err)
		}
	})
}

// A snapshot that an earlier version stored opens.
func TestOldSnapshotsOpen(t *testing.T) {
	t.Parallel()
	_, queued := parked(t)
	queued.Request.Input = json.RawMessage(`{"a":"<b>"}`)
	sealed, err := base64.StdEncoding.DecodeString("QUxTMQNvbmWGxcd8J1Tf4UIDIX3MvnmriK+Fxg4kryEPfP9Z1u/cbNQ=")
	if err != nil {
		t.Fatal(err)
	}
	k := keys(t, "one:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if plain, err := k.Open(queued, sealed); err != nil || string(plain) != "state" {
		t.Errorf("%q, %v", plain, err)
	}
	queued.Request.Input = json.RawMessage(`{"a":"<c>"}`)
	if _, err := k.Open(queued, sealed); !errors.Is(err, waits.ErrSealed) {
		t.Errorf("with another request: %v", err)
	}
}
