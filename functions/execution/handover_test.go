package execution_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

const handoverID = "exec_01JD0000000000000000000000"

func TestHandover(t *testing.T) {
	t.Parallel()
	payload := []byte(`{"airlock":1}`)
	h := execution.NewHandover(handoverID, payload)
	got, is, err := execution.DecodeHandover(h.Payload())
	if err != nil || !is || got != h {
		t.Errorf("%+v, %v, %v; want %+v", got, is, err, h)
	}
	for text, want := range map[string]bool{
		string(payload): true, string(payload[1:]): false, string(payload) + " ": false,
	} {
		if got.Is([]byte(text)) != want {
			t.Errorf("it is the handover of %q: %v, want %v", text, !want, want)
		}
	}
}

func TestHandoverRefused(t *testing.T) {
	t.Parallel()
	good := string(execution.NewHandover(handoverID, []byte("{}")).Payload())
	sum := strings.Split(good, `"`)[11]
	for payload, field := range map[string]string{
		strings.Replace(good, `"airlock":1`, `"airlock":2`, 1):                   "airlock",
		strings.Replace(good, handoverID, "exec_../../other", 1):                 "handover.id",
		strings.Replace(good, handoverID, "", 1):                                 "handover.id",
		strings.Replace(good, sum, "../audit/executions/x", 1):                   "handover.sha256",
		strings.Replace(good, sum, strings.ToUpper(sum), 1):                      "handover.sha256",
		strings.Replace(good, sum, sum[2:], 1):                                   "handover.sha256",
		strings.Replace(good, `"bytes":2`, `"bytes":0`, 1):                       "handover.bytes",
		strings.Replace(good, `"bytes":2`, `"bytes":99999999999`, 1):             "handover.bytes",
		strings.Replace(good, `"bytes":2`, `"bytes":2,"key":"other/key"`, 1):     "handover",
		strings.Replace(good, `"bytes":2}`, `"bytes":2},"request":{}`, 1):        "handover",
		strings.Replace(good, `"bytes":2`, `"bytes":2,"bytes":3`, 1):             "handover",
		strings.Replace(good, `"handover":{`, `"handover":{"bucket":"mine",`, 1): "handover",
	} {
		_, is, err := execution.DecodeHandover([]byte(payload))
		var e *execution.Error
		if !is || !errors.As(err, &e) {
			t.Errorf("%s: is a handover: %v, %v", payload, is, err)
		} else if e.Code != execution.InvalidRequest || e.Field != field {
			t.Errorf("%s: %s of field %q, want %s of %q", payload, e.Code, e.Field, execution.InvalidRequest, field)
		}
	}
	for _, other := range []string{``, `{}`, `{"code":"1"}`, `{"handover":{}}`, `{"airlock":1,"id":"x"}`,
		`[{"airlock":1,"handover":{}}]`, strings.Repeat(" ", 2000) + good} {
		if _, is, err := execution.DecodeHandover([]byte(other)); is || err != nil {
			t.Errorf("%s is a handover: %v", other, err)
		}
	}
}

func FuzzDecodeHandover(f *testing.F) {
	f.Add(execution.NewHandover(handoverID, []byte("{}")).Payload())
	f.Add([]byte(`{"airlock":1,"handover":{"id":"exec_../..","sha256":"","bytes":-1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, is, err := execution.DecodeHandover(b)
		if !is || err != nil {
			return
		}
		if !execution.ValidID(h.ID) || len(h.SHA256) != 64 || strings.ContainsAny(h.ID+h.SHA256, "/.%\\") {
			t.Fatalf("its names are no parts of a key: %+v", h)
		}
		if !json.Valid(h.Payload()) {
			t.Fatalf("no JSON: %s", h.Payload())
		}
		if again, is, err := execution.DecodeHandover(h.Payload()); err != nil || !is || again != h {
			t.Fatalf("%+v, then %+v, %v", h, again, err)
		}
	})
}
