package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// A replay runs on the engine build that the record names, and is refused where that build cannot be opened.
func TestReplayBuild(t *testing.T) {
	const own, other, first = "quickjs-ng-0.15.1", "quickjs-ng-0.12.0", "quickjs-ng-0.10.1"
	for _, c := range []struct {
		name, recorded string
		opens          bool
		openErr        error
		opened         string // the other build that is opened
		err            string
	}{
		{name: "its own build", recorded: own, opens: true},
		{name: "its own build, and no other", recorded: own},
		{name: "another build", recorded: other, opens: true, opened: other},
		{name: "a record without a build", opens: true, opened: first},
		{name: "another build, which cannot be opened", recorded: other, opens: true, openErr: errors.New("no such build"),
			err: "no such build"},
		{name: "another build, and none is opened", recorded: other, err: "set ENGINE_BUILD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			here, there := &fixture{result: sandbox.Result{Value: json.RawMessage("1")}},
				&fixture{result: sandbox.Result{Value: json.RawMessage("1")}}
			var opened string
			r := newRunner(t, here, policy.Default(), func(cfg *runner.Config) {
				cfg.EngineBuild = own
				if c.opens {
					cfg.OpenBuild = func(_ context.Context, build string) (runner.Sandbox, error) {
						opened = build
						return there, c.openErr
					}
				}
			})
			seed := int64(1)
			_, err := r.Replay(t.Context(), audit.Record{
				ID:     "exec_01JD5Z6Q8V0000000000000000",
				Ending: audit.Ending{Status: string(execution.Completed)}, EngineBuild: c.recorded,
				Inputs: audit.Inputs{Seed: &seed, Request: json.RawMessage(`{"code": "1"}`)},
			})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("Replay returned %v, want an error with %q", err, c.err)
				}
				if here.runs+there.runs != 0 {
					t.Error("something ran")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantHere, wantThere := 1, 0
			if c.opened != "" {
				wantHere, wantThere = 0, 1
			}
			if here.runs != wantHere || there.runs != wantThere || opened != c.opened {
				t.Errorf("ran %d times here and %d there, opened %q; want %d, %d and %q", here.runs, there.runs, opened, wantHere,
					wantThere, c.opened)
			}
		})
	}
}
