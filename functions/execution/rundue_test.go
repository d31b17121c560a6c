package execution_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

func TestRunDuePayload(t *testing.T) {
	t.Parallel()
	good := string(execution.RunDuePayload(handoverID))
	if job, is, err := execution.DecodeRunDue([]byte(good)); job != handoverID || !is || err != nil {
		t.Errorf("%q %v %v", job, is, err)
	}
	for payload, field := range map[string]string{
		strings.Replace(good, `"airlock":1`, `"airlock":2`, 1):          "airlock",
		strings.Replace(good, handoverID, "exec_../../other", 1):        "turn.job",
		strings.Replace(good, handoverID, "", 1):                        "turn.job",
		strings.Replace(good, `"turn":{`, `"turn":{"all":true,`, 1):     "turn",
		strings.Replace(good, `{"airlock"`, `{"code":"1","airlock"`, 1): "turn",
	} {
		var e *execution.Error
		if _, is, err := execution.DecodeRunDue([]byte(payload)); !is || !errors.As(err, &e) {
			t.Errorf("%s: is one: %v, %v", payload, is, err)
		} else if e.Code != execution.InvalidRequest || e.Field != field {
			t.Errorf("%s: %s of field %q, want %s of %q", payload, e.Code, e.Field, execution.InvalidRequest, field)
		}
	}
	for _, other := range []string{``, `{}`, `{"code":"1"}`, `{"turn":{}}`, `{"airlock":1,"id":"x"}`, `[` + good + `]`,
		strings.Repeat(" ", 2000) + good} {
		if _, is, err := execution.DecodeRunDue([]byte(other)); is || err != nil {
			t.Errorf("%s is a turn: %v", other, err)
		}
	}
}

func FuzzDecodeRunDue(f *testing.F) {
	f.Add(execution.RunDuePayload(handoverID))
	f.Add([]byte(`{"airlock":1,"turn":{"job":"exec_../.."}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		job, is, err := execution.DecodeRunDue(b)
		if is && err == nil && !execution.ValidID(job) {
			t.Errorf("%q is the job of %q", job, b)
		}
		if !is && (err != nil || job != "") {
			t.Errorf("%q, %v for an invalid input: %q", job, err, b)
		}
	})
}
