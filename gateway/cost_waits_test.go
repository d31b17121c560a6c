package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
)

// costlyValues are values of a megabyte whose shape costs decoders or encoders more than their size suggests.
func costlyValues() map[string]string {
	const full = 1<<20 - 400
	repeat := strings.Repeat
	var names strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&names, `"%x":0,`, i)
	}
	return map[string]string{
		"text": `"` + repeat("x", full-2) + `"`, "numbers": "[0" + repeat(",0", full/2-2) + "]",
		"objects": "[{}" + repeat(",{}", full/3-2) + "]", "escapes": `"` + repeat(`\u0001`, full/6-1) + `"`,
		"names": "{" + strings.TrimSuffix(names.String(), ",") + "}", "line ends": `"` + repeat("\u2028", full/3-1) + `"`,
	}
}

// pausingOnce serves a gateway whose executions pause once, with a snapshot of some size.
func pausingOnce(t *testing.T, snapshot int, waiting ...execution.Waiting) *served {
	t.Helper()
	return kept(t, options{
		reader: newFarReader(t), config: gateway.Config{SnapshotKeys: snapshotKeys(t)},
		invoke: func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
			reply, err := small(ctx, inv, onLog)
			reply.Result.Engine, reply.Result.EngineBuild, reply.Result.Policy = "quickjs", "b", "standard"
			if inv.Resume == nil {
				reply.Result.Status, reply.Result.Waiting = execution.Paused, waiting
				reply.Result.Snapshot = make([]byte, snapshot)
			}
			return reply, err
		},
	})
}

// An event or a decision of a megabyte, up to the end of the execution that it continues, costs the gateway's own
// process no more than one other request, also if the execution has a megabyte of input, or the call that waits half a
// megabyte of parameters.
func TestOwnCostsOfAnswersToPaused(t *testing.T) {
	values := costlyValues()
	event := execution.Waiting{Seq: 1, Kind: execution.WaitEvent, Name: "e"}
	ask := execution.Waiting{Seq: 1, Kind: execution.WaitApproval, Title: "How many?"}
	numbers := values["numbers"][:512<<10-2] + "]"
	tool := execution.Waiting{
		Seq: 1, Kind: execution.WaitApproval, Tool: "pay:out", Args: json.RawMessage(`{"a":` + numbers + `}`),
	}
	decide := func(decision, rest string) string {
		return `{"decisions":[{"seq":1,"decision":"` + decision + `"` + rest + `}]}`
	}
	for name, value := range values {
		for _, c := range []struct {
			kind, path, body, input string
			waits                   execution.Waiting
		}{
			{"an event", "/events/e", value, "1", event},
			{"an event beside an input", "/events/e", value, values["objects"], event},
			{"a response", "/resume", decide("respond", `,"value":`+value), "1", ask},
			{"other arguments", "/resume", decide("edit", `,"args":{"a":`+value+`}`), "1", refund(1)},
			{"an approval beside an input", "/resume", decide("approve", ""), value, refund(1)},
			{"other arguments of a long call", "/resume", decide("edit", `,"args":{"a":`+value+`}`), "1", tool},
			{"an approval of a long call", "/resume", decide("approve", ""), value, tool},
		} {
			s := pausingOnce(t, 1<<20, c.waits)
			s.within(t, c.kind+", "+name, ownTime, 1<<20, func() time.Duration {
				path := want(t, s.do(t, "POST", "/api/execute", `{"code":"1","input":`+c.input+`}`), 202).Header.Get("Location")
				took, status := s.once(t, "POST", path+c.path, c.body, "application/json")
				if status != 200 {
					t.Fatalf("%s, %s: %d", c.kind, name, status)
				}
				return took
			})
		}
	}
}

// An event of a megabyte costs what it costs whatever the size of the snapshot: that is read, and not written again.
func TestOwnCostsOfAnswersBesideSnapshots(t *testing.T) {
	others := costServer(t)
	s := pausingOnce(t, 16<<20, execution.Waiting{Seq: 1, Kind: execution.WaitEvent, Name: "e"})
	for name, value := range costlyValues() {
		others.within(t, name, ownTime, 16<<20, func() time.Duration {
			path := want(t, s.do(t, "POST", "/api/execute", `{"code":"1"}`), 202).Header.Get("Location")
			without, status := s.once(t, "POST", path+"/events/other", value, "application/json")
			took, status2 := s.once(t, "POST", path+"/events/e", value, "application/json")
			if status != 409 || status2 != 200 {
				t.Fatalf("%s: %d, %d", name, status, status2)
			}
			return took - without
		})
	}
}

// Decisions are counted before they are decoded, over MCP, too.
func TestOwnCostsOfTooManyDecisions(t *testing.T) {
	s := kept(t, options{reader: newFarReader(t), invoke: small, config: gateway.Config{SnapshotKeys: snapshotKeys(t)}})
	many := `{"id":"exec_0123456789","decisions":[{}` + strings.Repeat(",{}", (1<<20-600)/3) + `]}`
	headers := append([]string{"Mcp-Method: tools/call", "Mcp-Name: resume_execution"}, mcpHeaders...)
	s.bounded(t, "POST", "/mcp", messageFor("resume_execution", many), headers...)
	a := s.do(t, "POST", "/mcp", messageFor("resume_execution", many), headers...)
	want(t, a, 200, "must have 1 to 1024 entries")
	s.bounded(t, "POST", "/api/executions/exec_0123456789/resume", many)
}

// A job with a megabyte of input costs, from the request that stores it to its end, no more than one other request.
func TestOwnCostsOfJobsWithInput(t *testing.T) {
	s := kept(t, options{reader: newFarReader(t), invoke: small})
	n := 0
	for name, value := range costlyValues() {
		s.within(t, name, ownTime, 1<<20, func() time.Duration {
			n++
			before := processorTime()
			accepted := s.do(t, "POST", "/api/execute", fmt.Sprintf(`{"code":"%d","input":%s}`, n, value), prefer)
			want(t, s.ended(t, want(t, accepted, 202).Header.Get("Location")), 200, `"status":"completed"`)
			return processorTime() - before
		})
	}
}
