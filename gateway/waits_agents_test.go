package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
)

// An agent runs code that pauses, and reads how it goes on. An agent that may approve lists it and decides. The tools
// for that are hidden from others.
func TestAgentsApprove(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		s, _ := waiting(t, options{auth: tokens(t)}, []execution.Waiting{refund(1)}, []execution.Waiting{refund(2)})
		author := s.agent(t, protocol, token(t, "ann", "acme", "execute"), nil)
		boss := s.agent(t, protocol, token(t, "bob", "acme", "approve"), nil)
		var names []string
		for _, session := range []*sdk.ClientSession{author, boss} {
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range tools.Tools {
				if tool.Name == "list_paused" || tool.Name == "resume_execution" {
					names = append(names, tool.Name)
				}
			}
		}
		if got := fmt.Sprint(names); got != "[list_paused resume_execution]" {
			t.Errorf("%s: the author and the boss see %s", protocol, got)
		}
		call := func(session *sdk.ClientSession, tool string, arguments map[string]any) (map[string]any, string, bool) {
			t.Helper()
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
			if err != nil {
				t.Fatal(err)
			}
			v, text := r.StructuredContent.(map[string]any), r.Content[0].(*sdk.TextContent).Text
			if v["segment"] == nil { // otherwise its code and its result so far are for programs
				v = content(t, r)
			}
			return v, text, r.IsError
		}
		v, text, failed := call(author, "execute_code", map[string]any{"code": "1"})
		id := fmt.Sprint(v["id"])
		if failed || v["status"] != "paused" {
			t.Fatalf("%s: failed %t, status %v: %s", protocol, failed, v["status"], text)
		}
		for _, part := range []string{`resume_execution {\"id\":\"` + id + `\"`, `"payments:refund"`} {
			if !strings.Contains(text, part) {
				t.Fatalf("%s: the text has no %s: %s", protocol, part, text)
			}
		}
		approve := func(seq int) map[string]any {
			return map[string]any{"id": id, "decisions": []any{map[string]any{"seq": seq, "decision": "approve"}}}
		}
		for _, tool := range []string{"list_paused", "resume_execution"} {
			arguments := map[string]any{}
			if tool == "resume_execution" {
				arguments = approve(1)
			}
			if v, _, failed := call(author, tool, arguments); !failed || v["code"] != "insufficient_scope" {
				t.Errorf("%s: %s without the scope: %v", protocol, tool, v)
			}
		}
		v, text, failed = call(boss, "list_paused", nil)
		if failed || len(v["items"].([]any)) != 1 || !strings.Contains(text, id) {
			t.Errorf("%s: %v", protocol, v)
		}
		v, text, failed = call(boss, "resume_execution", approve(1))
		members(t, v, map[string]any{"status": "paused", "segment": 2.0})
		if failed || !strings.Contains(text, "howToContinue") {
			t.Errorf("%s: %v", protocol, v)
		}
		if v, _, failed = call(boss, "resume_execution", approve(1)); !failed || v["code"] != "not_waiting" {
			t.Errorf("%s: decided twice: %v", protocol, v)
		}
		if v, _, failed = call(boss, "resume_execution", approve(2)); failed || v["status"] != "completed" {
			t.Errorf("%s: %v", protocol, v)
		}
		if v, _, failed = call(author, "get_execution", map[string]any{"id": id}); failed || v["status"] != "completed" {
			t.Errorf("%s: %v", protocol, v)
		}
		if v, _, _ = call(boss, "list_paused", nil); len(v["items"].([]any)) != 0 {
			t.Errorf("%s: %v", protocol, v)
		}
	}
}

// A user of an agent decides about what its code waits for, if the agent can ask and its user may decide.
func TestAgentsAsk(t *testing.T) {
	t.Parallel()
	form := func(action string, content map[string]any) *sdk.ElicitResult {
		return &sdk.ElicitResult{Action: action, Content: content}
	}
	approves := form("accept", map[string]any{"decision": "approve", "reason": "fine"})
	value := execution.Waiting{Seq: 1, Kind: execution.WaitApproval, Title: "How many?",
		Schema: json.RawMessage(`{"type":"integer"}`)}
	object := execution.Waiting{Seq: 1, Kind: execution.WaitApproval, Title: "Who?",
		Schema: json.RawMessage(`{"type":"object"}`)}
	sleep := execution.Waiting{Seq: 3, Kind: execution.WaitSleep, DueAt: time.Now().Add(time.Hour)}
	for _, c := range []struct {
		name, protocol, scope, policy string
		waits                         []execution.Waiting
		form                          *sdk.ElicitResult
		asked                         int
		status, got                   string
	}{
		{"approved", "", "execute approve", "", []execution.Waiting{refund(1), refund(2)}, approves, 2, "completed",
			"[map[call:true seq:1] map[call:true seq:2]]"},
		{"declined", "", "execute approve", "", []execution.Waiting{refund(1)}, form("decline", nil), 1, "completed",
			"[map[error:the request was rejected errorName:RejectedError seq:1]]"},
		{"rejected", "", "execute approve", "", []execution.Waiting{refund(1)},
			form("accept", map[string]any{"decision": "reject", "reason": "no"}), 1, "completed",
			"[map[error:the request was rejected: no errorName:RejectedError seq:1]]"},
		{"later", "", "execute approve", "", []execution.Waiting{refund(1)}, form("cancel", nil), 1, "paused", ""},
		{"a value", "", "execute approve", "", []execution.Waiting{value},
			form("accept", map[string]any{"decision": "respond", "value": 7.0}), 1, "completed", "[map[seq:1 value:7]]"},
		{"an object", "", "execute approve", "", []execution.Waiting{object},
			form("accept", map[string]any{"decision": "respond", "value": `{"name":"ann"}`}), 1, "completed",
			"[map[seq:1 value:map[name:ann]]]"},
		{"no scope", "", "execute", "", []execution.Waiting{refund(1)}, approves, 0, "paused", ""},
		{"four eyes", "", "execute approve", "four", []execution.Waiting{refund(1)}, approves, 0, "paused", ""},
		{"a sleep", "", "execute approve", "", []execution.Waiting{sleep}, approves, 0, "paused", ""},
		{"an old client", "2025-11-25", "execute approve", "", []execution.Waiting{refund(1)}, approves, 0, "paused", ""},
		{"a client that cannot ask", "", "execute approve", "", []execution.Waiting{refund(1)}, nil, 0, "paused", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, f := waiting(t, options{auth: tokens(t), policy: fourEyes(t)}, c.waits)
			var asked atomic.Int64
			o := &sdk.ClientOptions{}
			if c.form != nil {
				o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked.Add(1)
					if !strings.Contains(r.Params.Message, "asks for approval") {
						t.Errorf("asked %q", r.Params.Message)
					}
					return form(c.form.Action, maps.Clone(c.form.Content)), nil // the client adds to the content
				}
			}
			session := s.agentWith(t, c.protocol, token(t, "ann", "acme", c.scope), o)
			arguments := map[string]any{"code": "1"}
			if c.policy != "" {
				arguments["policy"] = c.policy
			}
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "execute_code", Arguments: arguments})
			if err != nil {
				t.Fatal(err)
			}
			v := r.StructuredContent.(map[string]any)
			if r.IsError || v["status"] != c.status || int(asked.Load()) != c.asked {
				t.Errorf("asked %d times: %v", asked.Load(), v)
			}
			if got := fmt.Sprint(v["result"]); c.got != "" && got != c.got {
				t.Errorf("the segment got %s", got)
			}
			if n, want := f.segments(), map[string]int{"paused": 1, "completed": 2}[c.status]; want > 0 && n != want {
				t.Errorf("%d segments ran, want %d", n, want)
			}
		})
	}
}

// While a user is asked, somebody else decides: the call returns what the execution did.
func TestAgentsAskTooLate(t *testing.T) {
	t.Parallel()
	s, _ := waiting(t, options{}, []execution.Waiting{refund(1)})
	session := s.agentWith(t, "", "", &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			list := want(t, s.do(t, "GET", "/api/executions?status=paused", ""), 200).json(t)
			id := list["items"].([]any)[0].(map[string]any)["id"].(string)
			want(t, s.do(t, "POST", "/api/executions/"+id+"/resume", `{"decisions":[{"seq":1,"decision":"reject"}]}`), 200)
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, nil
		},
	})
	v, failed := use(t, session, "execute_code", map[string]any{"code": "1"})
	if failed || v["status"] != "completed" || !strings.Contains(fmt.Sprint(v["result"]), "rejected") {
		t.Errorf("got %v", v)
	}
}
