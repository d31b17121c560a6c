package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

// The code of the executions in the test. Each waits at least once.
var waitingCode = []string{
	`const r = await payments.refund({order: input}); return r`,
	`const ok = await airlock.approve({title: "Go?"}).catch((e) => e.name); return [ok, await airlock.waitForEvent("e")]`,
	`return await Promise.all([payments.refund({order: 1}).catch((e) => e.name), airlock.waitForEvent("e")])`,
	`try { return await airlock.waitForEvent("never", {timeout: "1 s"}) } catch (e) { return e.name }`,
	`await airlock.sleep("10 s"); return "slept"`,
	// its snapshot is not in the item of a table
	`const all = Array.from({length: 8000}, Math.random); await airlock.waitForEvent("e"); return all.length`,
	// what is stored beside the execution: the parameters of its call, and the value of its event
	`await payments.refund({order: input, pad: "p".repeat(20000)}).catch(() => {});
	const e = await airlock.waitForEvent("e");
	if (e.pad !== "x".repeat(e.n)) throw new Error("` + otherValue + `"); return "same"`,
}

// otherValue is the error of an execution that gets another value than was sent.
const otherValue = "this is another value"

// A killedWorld is what clients know of executions whose gateways are killed.
type killedWorld struct {
	*testing.T
	tool string

	mu      sync.Mutex
	open    []string
	ended   map[string]string         // the results, by execution
	decided map[string]map[int]string // the decisions that a gateway acknowledged
	ends    map[string]string         // what a gateway said about executions that it cancelled
	urls    []string                  // of the gateways
}

// gateway returns the URL of a gateway. It may have been killed.
func (w *killedWorld) gateway() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.urls[rand.N(len(w.urls))]
}

// ask makes a request. ok is false if there was no response, as the gateway was killed.
func (w *killedWorld) ask(ctx context.Context, method, path, body string, headers ...string) (
	status int, v map[string]any, text string, ok bool,
) {
	r, err := http.NewRequestWithContext(ctx, method, w.gateway()+path, strings.NewReader(body))
	if err != nil {
		w.Error(err)
		return 0, nil, "", false
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, "", false
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || json.Unmarshal(b, &v) != nil {
		return 0, nil, "", false
	}
	return res.StatusCode, v, string(b), true
}

// submit starts an execution.
func (w *killedWorld) submit(ctx context.Context) {
	request := map[string]any{"code": waitingCode[rand.N(len(waitingCode))], "input": 7, "tools": []any{
		map[string]any{"name": "payments.refund", "url": w.tool, "approval": "required"},
	}}
	if rand.N(5) == 0 {
		request["policy"] = "short"
	}
	body, err := json.Marshal(request)
	if err != nil {
		w.Error(err)
		return
	}
	headers := []string{"Prefer: respond-async"}
	if rand.N(3) == 0 {
		headers = nil // it becomes a job when it pauses
	}
	status, v, text, ok := w.ask(ctx, "POST", "/api/execute", string(body), headers...)
	switch {
	case !ok, status == 503:
		return
	case status == 200 && v["error"] == execution.ProcessLost, status == 500 && v["code"] == "not_stored":
		return // its function process was killed, or the connections of the store; no client waits for it
	case status != 202:
		w.Errorf("submitted: %d %s", status, text)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, v["id"].(string))
}

// final reports whether a status is final.
func final(status any) bool {
	return slices.Contains([]any{"completed", "error", "timeout", "cancelled", "expired"}, status)
}

// look reads an execution and decides about what it waits for. An execution that has ended must not have changed.
func (w *killedWorld) look(ctx context.Context, id string, end bool) {
	status, v, text, ok := w.ask(ctx, "GET", "/api/executions/"+id, "")
	if !ok || status == 503 {
		return
	}
	if status != 200 {
		w.Errorf("%s was acknowledged, and is lost: %d %s", id, status, text)
		return
	}
	if final(v["status"]) {
		w.end(id, text)
		return
	}
	pending, _ := v["waiting"].([]any)
	if doomed := strings.Contains("0123", id[len(id)-1:]); doomed && !end && rand.N(20) == 0 {
		if status, v, _, ok = w.ask(ctx, "DELETE", "/api/executions/"+id, ""); ok && status == 200 && final(v["status"]) {
			w.mu.Lock()
			w.ends[id] = fmt.Sprint(v["status"])
			w.mu.Unlock()
		}
		return
	}
	for _, x := range pending {
		wait := x.(map[string]any)
		switch wait["kind"] {
		case "approval":
			w.decide(ctx, id, int(wait["seq"].(float64)))
		case "event":
			if wait["name"] == "e" {
				n := []int{1, 10_000, 400_000}[rand.N(3)]
				w.ask(ctx, "POST", "/api/executions/"+id+"/events/e",
					fmt.Sprintf(`{"n":%d,"pad":%q}`, n, strings.Repeat("x", n)), "Prefer: respond-async")
			}
		}
	}
}

// end notes the result of an execution. It never changes.
func (w *killedWorld) end(id, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.Contains(text, otherValue) {
		w.Errorf("%s: %s", id, text)
	}
	if before, there := w.ended[id]; there && before != text {
		w.Errorf("%s ended twice:\n%s\n%s", id, before, text)
	}
	w.ended[id] = text
	w.open = slices.DeleteFunc(w.open, func(other string) bool { return other == id })
}

// decide decides about an operation. Only one decision is ever acknowledged.
func (w *killedWorld) decide(ctx context.Context, id string, seq int) {
	decision := []string{"approve", "reject"}[rand.N(2)]
	status, _, text, ok := w.ask(ctx, "POST", "/api/executions/"+id+"/resume",
		fmt.Sprintf(`{"decisions":[{"seq":%d,"decision":%q}]}`, seq, decision), "Prefer: respond-async")
	if !ok || status == 409 || status == 503 {
		return
	}
	if status != 200 && status != 202 {
		w.Errorf("decided: %d %s", status, text)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, there := w.decided[id][seq]; there {
		w.Errorf("%s: operation %d was decided twice: %s, %s", id, seq, before, decision)
	}
	if w.decided[id] == nil {
		w.decided[id] = map[int]string{}
	}
	w.decided[id][seq] = decision
}

// one returns an execution that has not ended, or now and then one that has.
func (w *killedWorld) one() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rand.N(10) == 0 {
		for id := range w.ended {
			return id
		}
	}
	if len(w.open) == 0 {
		return ""
	}
	return w.open[rand.N(len(w.open))]
}

// work is what clients do until ctx ends.
func (w *killedWorld) work(ctx context.Context, wait *sync.WaitGroup) {
	for range 4 {
		wait.Go(func() {
			for ctx.Err() == nil {
				w.mu.Lock()
				few := len(w.open) < 12
				w.mu.Unlock()
				id := w.one()
				if few && rand.N(3) == 0 || id == "" {
					w.submit(ctx)
				} else {
					w.look(ctx, id, false)
				}
			}
		})
	}
}
