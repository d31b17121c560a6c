package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/callbacks"
)

// costlyAnswers are results within the limits of every tier whose shape costs decoders or encoders more than their size
// suggests.
func costlyAnswers() map[string]execution.Result {
	const full = 1 << 20
	repeat := strings.Repeat
	var names strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&names, `"%x":0,`, i)
	}
	value := func(text string) execution.Result { return execution.Result{Result: json.RawMessage(text)} }
	out := map[string]execution.Result{
		"numbers":    value("[0" + repeat(",0", full/2-2) + "]"),
		"text":       value(`"` + repeat("x", full-2) + `"`),
		"markup":     value(`"` + repeat("<&>", full/3-1) + `"`),
		"line ends":  value(`"` + repeat("\u2028", full/3-1) + `"`),
		"quotes":     value(`"` + repeat(`\"`, full/2-1) + `"`),
		"escapes":    value(`"` + repeat(`\u0001`, full/6-1) + `"`),
		"surrogates": value(`"` + repeat(`\ud83d\ude00`, full/12-1) + `"`),
		"lists":      value("[[]" + repeat(",[]", full/3-2) + "]"),
		"names":      value("{" + strings.TrimSuffix(names.String(), ",") + "}"),
		"an answer of quotes": value(`{"status":200,"headers":{"Content-Type":"text/plain"},"body":"` +
			repeat(`\"`, full/2-40) + `"}`),
		"an answer of markup": value(`{"status":200,"body":"` + repeat("<&>", full/3-20) + `"}`),
	}
	printed := value("null")
	printed.Output = repeat("\x01", full)
	for range 100 {
		printed.Logs = append(printed.Logs, execution.Log{Level: "log", Message: repeat("\x01", 1000)})
	}
	out["console text"] = printed
	calls := value("null")
	for range 10_000 {
		calls.Logs = append(calls.Logs, execution.Log{Level: "error", Message: repeat("x", 100)})
		calls.Output += repeat("x", 100) + "\n"
	}
	out["console calls"] = calls
	for name, mark := range map[string]string{
		"control characters": "\x01", "quotes": `"`, "line ends": "\u2028", "accents": "é", "signs": "😀",
	} {
		lines := value("null") // as many as the tier agent keeps
		line := repeat(mark, 100/len(mark))
		lines.Output = repeat(line+"\n", 10_000)
		for range 10_000 {
			lines.Logs = append(lines.Logs, execution.Log{Level: "log", Message: line})
		}
		out["console calls of "+name] = lines
	}
	similar := value("null") // each line begins like the second call, which begins far away
	similar.Logs = []execution.Log{
		{Level: "log", Message: repeat("a\n", 498) + "a..."}, {Level: "log", Message: repeat("a\n", 498) + "b"},
	}
	similar.Output = repeat("a\n", full/2-1000) + similar.Logs[1].Message + "\n"
	out["similar lines"] = similar
	both := value(`"` + repeat(`\"`, full/2-1) + `"`)
	both.Output = repeat(`"`, full)
	out["value and console text"] = both
	return out
}

// An answerServer is a gateway whose function returns one result to everybody.
type answerServer struct {
	*served
	result   atomic.Pointer[execution.Result]
	receiver *httptest.Server
	called   chan struct{}
	context  string // a context of E2B
}

func newAnswerServer(t testing.TB) *answerServer {
	t.Helper()
	a := &answerServer{called: make(chan struct{}, 1)}
	a.receiver = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		a.called <- struct{}{}
	}))
	t.Cleanup(a.receiver.Close)
	a.set(execution.Result{Result: json.RawMessage("1")})
	a.served = kept(t, options{
		attached: offering{},
		config: gateway.Config{
			Callbacks: callbacks.Rules{OpenedHosts: []string{"127.0.0.1"}}, SnapshotKeys: snapshotKeys(t),
		},
		invoke: func(_ context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Reply, error) {
			result := *a.result.Load()
			result.ID, result.Status, result.Engine, result.Policy = inv.ID, execution.Completed, "quickjs", "standard"
			if inv.Session != nil {
				result.Snapshot, result.EngineBuild = []byte("s"), "b"
			}
			return execution.Reply{Recorded: true, Result: result}, nil
		},
	})
	for name, body := range map[string]string{"g": `{"code":"1"}`, "h": `{"code":"1","hook":{"scheme":"none"}}`} {
		if got := a.do(t, "PUT", "/api/functions/"+name, body); got.StatusCode != 201 {
			t.Fatalf("%s", got.body)
		}
	}
	a.context = strings.TrimPrefix(a.session(t, "{}"), "/api/sessions/")
	return a
}

func (a *answerServer) set(result execution.Result) { a.result.Store(&result) }

// answerEndpoints are the endpoints through which a result leaves the gateway. Each waits for the end of its requests.
func answerEndpoints() map[string]func(t testing.TB, a *answerServer) {
	plain := func(method, path, body string, headers ...string) func(testing.TB, *answerServer) {
		return func(t testing.TB, a *answerServer) { a.fetch(t, method, path, body, headers...) }
	}
	agent := func(tool, arguments string) func(testing.TB, *answerServer) {
		headers := append([]string{"Mcp-Method: tools/call", "Mcp-Name: " + tool}, mcpHeaders...)
		return plain("POST", "/mcp", messageFor(tool, arguments), headers...)
	}
	return map[string]func(testing.TB, *answerServer){
		"Piston": plain("POST", "/api/v2/execute", `{"language":"js","version":"*","files":[{"content":"1"}]}`),
		"E2B": func(t testing.TB, a *answerServer) {
			a.fetch(t, "POST", "/api/e2b/execute", `{"code":"1","context_id":"`+a.context+`"}`)
		},
		"execute":         plain("POST", "/api/execute", `{"code":"1"}`),
		"stream":          plain("POST", "/api/execute/stream", `{"code":"1"}`),
		"saved function":  plain("POST", "/api/functions/g/invoke", `{}`),
		"webhook":         plain("POST", "/hooks/h", `{}`),
		"agent":           agent("execute_code", `{"code":"1"}`),
		"agent, function": agent("invoke_function", `{"name":"g"}`),
		"agent, later": func(t testing.TB, a *answerServer) {
			_, rest, _ := strings.Cut(string(a.fetch(t, "POST", "/api/execute", `{"code":"1"}`)), `"id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			agent("get_execution", `{"id":"`+id+`"}`)(t, a)
		},
		"job": func(t testing.TB, a *answerServer) { a.job(t, "") },
		"callback": func(t testing.TB, a *answerServer) {
			a.job(t, `,"callback":"`+a.receiver.URL+`"`)
			<-a.called
		},
	}
}

// job stores a job and polls its result.
func (a *answerServer) job(t testing.TB, members string) {
	t.Helper()
	accepted := a.do(t, "POST", "/api/execute", `{"code":"1"`+members+`}`, prefer)
	if accepted.StatusCode != 202 {
		t.Fatalf("%d %s", accepted.StatusCode, accepted.body)
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		body := a.fetch(t, "GET", accepted.Header.Get("Location"), "")
		if strings.Contains(string(body[:min(len(body), 200)]), `"completed"`) {
			return
		}
		<-look.C
	}
}

// fetch returns the beginning of a response that was read to its end. The test's own side is cheap.
func (a *answerServer) fetch(t testing.TB, method, path, body string, headers ...string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := a.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	head, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	if err != nil || res.StatusCode >= 400 {
		t.Fatalf("%s %s: %d %v %s", method, path, res.StatusCode, err, head)
	}
	return head
}

// costOf returns the processor time of this process for one answer, the test's own side included, at the cheapest of a
// few.
func (a *answerServer) costOf(t testing.TB, endpoint func(testing.TB, *answerServer)) time.Duration {
	t.Helper()
	best := time.Hour
	for range 3 {
		before := processorTime()
		endpoint(t, a)
		if best = min(best, processorTime()-before); best < ownTime {
			break
		}
	}
	return best
}

// requests returns the number of requests of an endpoint, each of which may cost ownTime. Those of a job are the
// request that stores it, its run, and one that reads the result; its callback is one more.
func requests(endpoint string) time.Duration {
	switch endpoint {
	case "job":
		return 3
	case "callback":
		return 4
	case "agent, later":
		return 2
	}
	return 1
}

// A large answer costs the gateway's own process no more than a large request, at every endpoint.
func TestOwnCostsOfAnswers(t *testing.T) {
	a := newAnswerServer(t)
	for name, result := range costlyAnswers() {
		a.set(result)
		for endpoint, through := range answerEndpoints() {
			cost := func() time.Duration { return a.costOf(t, through) }
			a.within(t, endpoint+", "+name, requests(endpoint)*ownTime, 1<<20, cost)
		}
	}
}

// An agent gets a large answer unchanged in the structure, and its beginning in the text, with and without sessions,
// and when it repeats its message.
func TestAgentReadsLargeAnswers(t *testing.T) {
	a := newAnswerServer(t)
	for _, protocol := range protocols {
		session := a.agent(t, protocol, "", nil)
		for name, result := range costlyAnswers() {
			a.set(result)
			got, err := session.CallTool(t.Context(), &sdk.CallToolParams{
				Name: "execute_code", Arguments: map[string]any{"code": "1"},
			})
			if err != nil {
				t.Fatalf("%s, %s: %v", protocol, name, err)
			}
			var want any
			if err := json.Unmarshal(result.Result, &want); err != nil {
				t.Fatal(err)
			}
			if has := content(t, got); !reflect.DeepEqual(has["result"], want) || has["output"] != result.Output {
				t.Errorf("%s, %s: it is another result", protocol, name)
			}
			var shown struct {
				Result    any
				Truncated []string
			}
			if err := json.Unmarshal([]byte(got.Content[0].(*sdk.TextContent).Text), &shown); err != nil {
				t.Fatal(err)
			}
			beginning, cut := shown.Result.(string)
			if cut = cut && len(shown.Truncated) > 0 && strings.HasPrefix(shown.Truncated[0], "result: "); cut &&
				!strings.HasPrefix(string(result.Result), beginning) {
				t.Errorf("%s, %s: the text has another beginning", protocol, name)
			}
		}
	}
	a.set(costlyAnswers()["text"])
	headers := append([]string{"Mcp-Method: tools/call", "Mcp-Name: execute_code", "Idempotency-Key: k"}, mcpHeaders...)
	first := want(t, a.do(t, "POST", "/mcp", messageFor("execute_code", `{"code":"1"}`), headers...), 200)
	again := want(t, a.do(t, "POST", "/mcp", messageFor("execute_code", `{"code":"1"}`), headers...), 200)
	if !bytes.Equal(first.body, again.body) || len(first.body) < 1<<20 {
		t.Errorf("%d bytes, and again %d", len(first.body), len(again.body))
	}
}

// BenchmarkOwnCostsOfAnswers reports the worst cases of answers: processor time of the gateway's own process by
// endpoint and answer.
func BenchmarkOwnCostsOfAnswers(b *testing.B) {
	a := newAnswerServer(b)
	for name, result := range costlyAnswers() {
		for endpoint, through := range answerEndpoints() {
			b.Run(endpoint+"/"+name, func(b *testing.B) {
				a.set(result)
				total := time.Duration(0)
				for b.Loop() {
					before := processorTime()
					through(b, a)
					total += processorTime() - before
				}
				b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "own-cpu-ms/op")
			})
		}
	}
}

// FuzzOwnCostsOfAnswers searches for processor time: fragments, repeated to any size, as a value, as console text or as
// lines of it, through each endpoint that makes them another format.
func FuzzOwnCostsOfAnswers(f *testing.F) {
	for _, fragment := range []string{
		"\x01", `"`, `\`, "<&>", "\u2028", "é", "😀", "\ufffd", "\x1b[2J", "\r\n", "a\n", "data: ",
	} {
		for place := range uint8(3) {
			f.Add("", fragment, uint16(60_000), place)
			f.Add("a", fragment, uint16(100), place)
		}
	}
	a := newAnswerServer(f)
	endpoints := answerEndpoints()
	f.Fuzz(func(t *testing.T, before, fragment string, times uint16, place uint8) {
		text := before + strings.Repeat(fragment, min(int(times), (300<<10)/max(len(fragment), 1)))
		if len(text) > 310<<10 {
			return
		}
		text = strings.ToValidUTF8(text, "\ufffd") // as a function sends it
		encoded, err := encodeJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(encoded) > 1<<20 {
			return // no tier allows it
		}
		result := execution.Result{Result: json.RawMessage("null"), Output: text}
		switch place % 3 {
		case 1:
			result.Result, result.Output = json.RawMessage(encoded), ""
		case 2:
			result.Output = ""
			for i := 0; len(result.Output) < len(text) && i < 10_000; i++ {
				line := text[:min(len(text), 1000)]
				result.Output += line + "\n"
				result.Logs = append(result.Logs, execution.Log{Level: "log", Message: strings.ToValidUTF8(line, "")})
			}
		}
		a.set(result)
		for _, endpoint := range []string{"execute", "stream", "agent", "Piston", "E2B"} {
			cost := func() time.Duration { return a.costOf(t, endpoints[endpoint]) }
			a.within(t, endpoint, ownTime, 1<<20, cost)
		}
	})
}

// offering is an attached server that has a resource and a prompt.
type offering struct{ attached }

func (offering) Offers() []execution.Offers {
	return []execution.Offers{{
		Namespace: "weather", Prompts: []execution.Prompt{{Name: "weather:greet"}},
		Resources: []execution.Resource{{URI: execution.ResourceURI("weather", "x:"), Name: "weather:x"}},
	}}
}

// Large resources and prompts of attached servers cost the gateway's own process no more than other answers.
func TestOwnCostsOfResources(t *testing.T) {
	const full = 1 << 20
	a := newAnswerServer(t)
	message := func(method, member, name string) func(testing.TB, *answerServer) {
		return func(t testing.TB, a *answerServer) {
			a.fetch(t, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"`+member+`":"`+name+
				`","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
				`"io.modelcontextprotocol/clientCapabilities":{}}}}`,
				append([]string{"Mcp-Method: " + method, "Mcp-Name: " + name}, mcpHeaders...)...)
		}
	}
	read := message("resources/read", "uri", "airlock://weather/x:")
	get := message("prompts/get", "name", "weather:greet")
	repeat := strings.Repeat
	said := func(text string) string {
		return `{"messages":[{"role":"user","content":{"type":"text","text":"` + text + `"}}]}`
	}
	for name, c := range map[string]struct {
		endpoint func(testing.TB, *answerServer)
		value    string
	}{
		"text":            {read, `{"contents":[{"uri":"x:","text":"` + repeat("x", full-100) + `"}]}`},
		"quotes":          {read, `{"contents":[{"uri":"x:","text":"` + repeat(`\"`, full/2-100) + `"}]}`},
		"escapes":         {read, `{"contents":[{"uri":"x:","text":"` + repeat(`\u0001`, full/6-100) + `"}]}`},
		"bytes":           {read, `{"contents":[{"uri":"x:","blob":"` + repeat("AAAA", full/4-100) + `"}]}`},
		"parts":           {read, `{"contents":[{}` + repeat(",{}", 999) + `]}`},
		"members":         {read, `{"contents":[{"a":[0` + repeat(",0", full/2-100) + `]}]}`},
		"a prompt":        {get, said(repeat(`\"`, full/2-200))},
		"invisible words": {get, said(repeat("\u202e", full/3-200))},
	} {
		a.set(execution.Result{Result: json.RawMessage(c.value)})
		a.within(t, name, ownTime, full, func() time.Duration { return a.costOf(t, c.endpoint) })
	}
}
