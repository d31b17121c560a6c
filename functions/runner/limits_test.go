package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/deployment"
	"github.com/airlock-run/airlock/sandbox"
)

// granted is a sandbox that keeps what it was granted.
type granted struct{ grants *sandbox.Grants }

func (g granted) Run(_ context.Context, _ sandbox.Script, grants sandbox.Grants) (sandbox.Result, error) {
	*g.grants = grants
	return sandbox.Result{Value: json.RawMessage("1")}, nil
}

type forgotten struct{}

func (forgotten) Append(context.Context, audit.Record) error { return nil }

// The sandbox, input and context obey the depth of the tier.
func TestDepthOfTheTier(t *testing.T) {
	rules, err := deployment.Parse("policy.yaml", []byte("version: 1\ntiers:\n  strict: {depth: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var grants sandbox.Grants
	r, err := runner.New(runner.Config{Sandbox: granted{&grants}, Policy: rules, Records: forgotten{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		request execution.Request
		field   string
	}{
		{"fits", execution.Request{Input: json.RawMessage("[[[1]]]")}, ""},
		{"input", execution.Request{Input: json.RawMessage("[[[[1]]]]")}, "input"},
		{"context", execution.Request{Context: map[string]json.RawMessage{"a": json.RawMessage("[[[[1]]]]")}}, "context.a"},
	} {
		c.request.Code, c.request.Policy = "1", "strict"
		_, err := r.Run(t.Context(), execution.Invocation{ID: "exec_0123456789", Request: c.request}, nil)
		var refused *execution.Error
		if c.field == "" {
			if err != nil || grants.Limits.Depth != 3 {
				t.Errorf("%s: %v, depth %d, want 3", c.name, err, grants.Limits.Depth)
			}
			continue
		}
		if !errors.As(err, &refused) {
			t.Errorf("%s: the error is %v", c.name, err)
			continue
		}
		want := &execution.Error{Code: execution.InvalidRequest, Field: c.field, Message: refused.Message}
		if diff := cmp.Diff(want, refused); diff != "" {
			t.Errorf("%s: the error differs (-want +got):\n%s", c.name, diff)
		}
		if part := "more than 3 levels deep: " + c.field + "[0][0][0]…"; !strings.Contains(refused.Message, part) {
			t.Errorf("%s: the message is %q, want %q in it", c.name, refused.Message, part)
		}
	}
}

// What a request may ask for at most is what the sandbox grants without a request.
func TestSandboxDefaultsAreTheMost(t *testing.T) {
	if governance.MaxFetchBytes != sandbox.DefaultFetchBytes || governance.MaxFileBytes != sandbox.DefaultFileBytes {
		t.Errorf("governance allows %d and %d bytes, the sandbox's defaults are %d and %d", governance.MaxFetchBytes,
			governance.MaxFileBytes, sandbox.DefaultFetchBytes, sandbox.DefaultFileBytes)
	}
}
