package lambdainvoke_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/invoketest"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
)

// functionIn returns the function that a request of the service API names.
func functionIn(r *http.Request) string {
	_, rest, _ := strings.Cut(r.URL.Path, "/functions/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// Each tier has a function of its own, and an invocation reaches the function of its tier only.
func TestFunctionOfEachTier(t *testing.T) {
	names := make(chan string, 8)
	url, _ := odd(t, func(w http.ResponseWriter, r *http.Request) {
		names <- functionIn(r)
		streams(eventStream("{}", resultLine))(w, r)
	})
	arn := "arn:aws:lambda:eu-central-1:123456789012:function:stack-"
	for _, function := range []string{"stack-", arn} {
		v := newClient(t, lambdainvoke.Config{Endpoint: url, Function: function + "{policy}",
			Policies: []string{"standard", "strict", "agent"}})
		for policy, want := range map[string]string{"": "standard", "standard": "standard", "agent": "agent",
			"strict": "strict", "of-our-own": "of-our-own"} {
			inv := invoketest.Invocation(1, "x")
			inv.Request.Policy = policy
			if _, err := v.Invoke(t.Context(), inv, nil); err != nil {
				t.Fatal(err)
			}
			if got := <-names; got != function+want {
				t.Errorf("policy %q went to %s", policy, got)
			}
		}
	}
}

func TestReadyAsksForEachTier(t *testing.T) {
	asked := map[string]bool{}
	missing := ""
	url, _ := odd(t, func(w http.ResponseWriter, r *http.Request) {
		name := functionIn(r)
		asked[name] = r.Header.Get("X-Amz-Invocation-Type") == "DryRun"
		if name == missing {
			says(404, "ResourceNotFoundException", `{}`)(w, r)
			return
		}
		says(204, "", "")(w, r)
	})
	cfg := lambdainvoke.Config{Endpoint: url, Function: "stack-{policy}", Policies: []string{"standard", "strict"}}
	if err := newClient(t, cfg).Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if !asked["stack-standard"] || !asked["stack-strict"] || len(asked) != 2 {
		t.Errorf("it asked for %v", asked)
	}
	missing = "stack-strict"
	var e *execution.Error
	if err := newClient(t, cfg).Ready(t.Context()); !errors.As(err, &e) || e.Code != execution.Internal {
		t.Errorf("one function is missing: %v", err)
	}
}
