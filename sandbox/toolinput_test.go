package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy/toolinput"
	"github.com/airlock-run/airlock/sandbox"
)

// asks is a tool of a server that asks for a number until it gets 0.
func asks(name string, request toolinput.Request) sandbox.Tool {
	return sandbox.Tool{Name: name, CallVia: func(http.RoundTripper) func(
		context.Context, json.RawMessage) (json.RawMessage, error) {
		return func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
			round, ok := toolinput.Of(ctx)
			switch {
			case !ok:
				return json.RawMessage(`"cannot ask"`), nil
			case round.Response == nil:
				return nil, &request
			case round.Response.Action == toolinput.Accept && string(round.Response.Content) != "0":
				again := request
				again.State = fmt.Appendf(nil, `[%s,%s]`, round.State, round.Response.Content)
				return nil, &again
			}
			return json.Marshal([]any{params, round.State, round.Response})
		}
	}}
}

func TestToolsAskForInput(t *testing.T) {
	e := newEngine(t)
	number := toolinput.Request{
		Title: "crm asks", Detail: "How many?", Schema: json.RawMessage(`{"type":"integer"}`), State: json.RawMessage(`1`),
	}
	long, wrong := number, number
	long.Detail, wrong.Schema = strings.Repeat("x", 65<<10), json.RawMessage(`{"type":7}`)
	approved := asks("crm:approved", number)
	approved.Approval = true
	grants := sandbox.Grants{Waits: waits, Tools: []sandbox.Tool{
		asks("crm:ask", number), asks("crm:long", long), asks("crm:wrong", wrong), approved, refund,
	}}
	value := func(seq int, value string) sandbox.Answer {
		return sandbox.Answer{Seq: seq, Value: json.RawMessage(value)}
	}
	no := sandbox.Answer{Seq: 1, Error: "the request was rejected", ErrorName: "RejectedError"}
	for _, c := range []struct {
		name, code string
		grants     sandbox.Grants
		segments   []sandbox.Answer
		want       string
	}{
		{
			"one question", "const x = {n: 1}; return [x.n, await crm.ask({a: 1})]", grants,
			[]sandbox.Answer{value(1, "0")}, `[1,[{"a":1},1,{"action":"accept","content":0}]]`,
		},
		{
			"three questions", "return (await crm.ask({a: 1}))[1]", grants,
			[]sandbox.Answer{value(1, "7"), value(2, "8"), value(3, "0")}, `[[1,7],8]`,
		},
		{
			"refused", "return (await crm.ask({a: 1}))[2]", grants, []sandbox.Answer{no}, `{"action":"decline"}`,
		},
		{
			"an answer that is no answer", "return crm.ask({a: 1}).catch((e) => e.name)", grants,
			[]sandbox.Answer{{Seq: 1, Error: "does not fit", ErrorName: "TypeError"}}, `"TypeError"`,
		},
		{
			"after an approval", "return (await crm.approved({a: 1}))[0]", grants,
			[]sandbox.Answer{{Seq: 1, Call: true}, value(2, "0")}, `{"a":1}`,
		},
		{
			"beside an approval", "return await Promise.race([crm.ask(), payments.refund({order: 1})])", grants,
			[]sandbox.Answer{{Seq: 1, Call: true}}, `{"params":{"order":1},"seq":1}`,
		},
		{
			"a question that is too long", "return crm.long().catch((e) => e.message)", grants, nil,
			`"tool crm:long: it asked for input that cannot be given: detail has 66560 bytes; at most 65536 are accepted"`,
		},
		{
			"a schema that is none", "return crm.wrong().catch((e) => e.message.slice(0, 56))", grants, nil,
			`"tool crm:wrong: it asked for input that cannot be given:"`,
		},
		{"a synchronous call", "return crm.ask.sync()", grants, nil, `"cannot ask"`},
		{"no waits", "return await crm.ask()", sandbox.Grants{Tools: grants.Tools[:1]}, nil, `"cannot ask"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := sandbox.Script{Code: c.code}
			r := run(t, e, script, c.grants)
			for _, answer := range c.segments {
				if r.Parked == nil {
					t.Fatalf("want a run that waits: %s %s", r.Value, r.Error)
				}
				for _, w := range r.Parked.Waiting {
					if w.Tool == "" && !reflect.DeepEqual(w, sandbox.Waiting{
						Seq: w.Seq, Kind: "approval", Title: "crm asks", Detail: "How many?", Schema: number.Schema,
					}) {
						t.Errorf("waits for %+v", w)
					}
				}
				r = resume(t, e, r, script, c.grants, answer)
			}
			if string(r.Value) != c.want {
				t.Errorf("got %s (%s), want %s", r.Value, r.Error, c.want)
			}
		})
	}
	// A call cannot be approved where an answer is asked for.
	script := sandbox.Script{Code: "return await crm.ask()"}
	r := run(t, e, script, grants)
	call := sandbox.Answer{Seq: 1, Call: true, Args: json.RawMessage(`{"action":"accept"}`)}
	if _, err := e.Resume(t.Context(), r.Parked.Snapshot, []sandbox.Answer{call}, script, grants); err == nil {
		t.Error("a call was approved")
	}
}
