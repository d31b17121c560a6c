package execution_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
)

func TestDecodeSessionStep(t *testing.T) {
	t.Parallel()
	const head = `{"airlock":1,"id":"exec_0123456789","via":"http","request":{"code":"1"},`
	for _, c := range []struct{ name, rest, field string }{
		{"the first step", `"session":{"id":"sess_0123456789","step":1}}`, ""},
		{"a later step", `"session":{"id":"sess_0123456789","step":2,"snapshot":"c3RhdGU="}}`, ""},
		{"the ID of an execution", `"session":{"id":"exec_0123456789","step":1}}`, "session.id"},
		{"a path", `"session":{"id":"sess_../../../etc","step":1}}`, "session.id"},
		{"no step", `"session":{"id":"sess_0123456789"}}`, "session.step"},
		{"a first step with a snapshot", `"session":{"id":"sess_0123456789","step":1,"snapshot":"c3RhdGU="}}`,
			"session.snapshot"},
		{"a later step without one", `"session":{"id":"sess_0123456789","step":2}}`, "session.snapshot"},
		{"with resume", `"resume":{"parent":"exec_0123456789","segment":1},"session":{"id":"sess_0123456789","step":1}}`,
			"session"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inv, err := execution.DecodeInvocation([]byte(head + c.rest))
			var refused *execution.Error
			switch {
			case errors.As(err, &refused):
				if refused.Field != c.field {
					t.Errorf("the field is %q, want %q: %v", refused.Field, c.field, err)
				}
				return
			case err != nil || c.field != "":
				t.Fatalf("the error is %v, want one about %q", err, c.field)
			}
			text, err := inv.Encode()
			if err != nil {
				t.Fatal(err)
			}
			again, err := execution.DecodeInvocation(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(inv.Session, again.Session); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A snapshot arrives as it was sent, however long it and the request are.
func TestEncodeSnapshots(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 1000, 64 << 10, 100_001} {
		for _, input := range []string{"1", `"` + strings.Repeat("x", 100_000) + `"`} {
			snapshot := bytes.Repeat([]byte("\xffs"), size)
			request := execution.Request{Code: `"snapshot":""`}
			request.SetInput(json.RawMessage(input))
			for name, segments := range map[string]execution.Segments{
				"resume": {Waits: true, Resume: &execution.Resume{
					Parent: "exec_0123456789", Segment: 2, Snapshot: snapshot, Answers: []execution.Answer{{Seq: 1}},
				}},
				"session": {Session: &execution.SessionStep{
					SessionRef: execution.SessionRef{ID: "sess_0123456789", Step: 2}, Snapshot: snapshot,
				}},
			} {
				sent := execution.Invocation{
					Airlock: execution.InvocationVersion, ID: "exec_9876543210", Via: execution.ViaHTTP, Request: request,
					Segments: segments,
				}
				text, err := sent.Encode()
				if err != nil {
					t.Fatal(err)
				}
				got, err := execution.DecodeInvocation(text)
				if err != nil {
					t.Fatalf("%s, %d bytes: %v", name, size, err)
				}
				if string(got.Request.Input) != input || !reflect.DeepEqual(got.Segments, segments) {
					t.Errorf("%s, %d bytes: another invocation arrives", name, size)
				}
			}
		}
	}
}
