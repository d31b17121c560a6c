package replystream_test

import (
	"context"
	"errors"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/replystream"
)

// Sources are named first and sent on demand. Invocations of other code are sent as they are.
func TestNamed(t *testing.T) {
	whole := execution.Invocation{ID: "exec_0123456789", Request: execution.Request{Code: "1", Policy: "strict"},
		Function: &execution.FunctionRef{Name: "f", Version: 1}, Content: "sum"}
	bare, unknown := whole, whole
	bare.Function, bare.Content = nil, ""
	unknown.Content = ""
	lost := &execution.Error{Code: execution.Unavailable}
	for _, c := range []struct {
		what string
		inv  execution.Invocation
		met  bool
		fail error
		want []string // the code of each call
	}{
		{"met before", whole, true, nil, []string{""}},
		{"not met", whole, false, nil, []string{"", "1"}},
		{"lost", whole, true, lost, []string{""}},
		{"not a function's", bare, false, nil, []string{"1"}},
		{"without a hash", unknown, false, nil, []string{"1"}},
	} {
		var got []string
		_, err := replystream.Named(t.Context(), c.inv, nil,
			func(_ context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Reply, error) {
				got = append(got, inv.Request.Code)
				if inv.Request.Policy != "strict" {
					t.Errorf("%s: more than the sources is left out", c.what)
				}
				if inv.Request.Code == "" && !c.met {
					return execution.Reply{}, &execution.Error{Code: execution.SourcesNeeded}
				}
				return execution.Reply{}, c.fail
			})
		if !errors.Is(err, c.fail) || len(got) != len(c.want) || got[len(got)-1] != c.want[len(got)-1] {
			t.Errorf("%s: calls with %q, %v", c.what, got, err)
		}
	}
}
