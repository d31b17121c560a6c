package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// A gateway is killed while it tells a receiver of a pause, and while it tells it of the end. The next gateway sends
// both messages again, signed and under the same IDs, and sends neither again once it was acknowledged.
func TestCallbacksOfPausesOutliveTheGateway(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	// A message whose ID comes the first time is not answered before its gateway is dead.
	got, answer := make(chan string), make(chan int)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = signer.Verify(body, r.Header)
		}
		var message struct{ Type string }
		if err == nil {
			err = json.Unmarshal(body, &message)
		}
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		got <- message.Type + " " + r.Header.Get("webhook-id")
		w.WriteHeader(<-answer)
	}))
	t.Cleanup(receiver.Close)
	environment := []string{"AUDIT_STORE=file://" + filepath.Join(t.TempDir(), "audit"), "RATE_LIMIT_MAX_REQUESTS=1000000",
		"EGRESS_ALLOW=" + strings.TrimPrefix(receiver.URL, "http://")}
	p := start(t, environment...)
	status, v := p.post(t.Context(), t, "/api/execute", fmt.Sprintf(
		`{"code":"return await airlock.approve({title: 'Go?'})","callback":{"url":%q,"secret":%q}}`, receiver.URL, secret),
		"Prefer: respond-async")
	if status != 202 {
		t.Fatal(status, v)
	}
	id := v["id"].(string)
	name := strings.TrimPrefix(id, "exec_")
	var heard []string
	// hear answers messages until one is what is wanted, and kills the gateway before it answers that.
	hear := func(want string, kill bool) {
		t.Helper()
		for {
			message := <-got
			heard = append(heard, message)
			if message == want && kill {
				killed(t, p)
			}
			answer <- 200
			if message == want {
				return
			}
		}
	}
	paused, ended := "execution.paused msg_"+name+".paused.1", "execution.completed msg_"+name
	hear(paused, true)
	p = start(t, environment...)
	hear(paused, false)
	status, v = p.post(t.Context(), t, "/api/executions/"+id+"/resume", `{"decisions":[{"seq":1,"decision":"approve"}]}`,
		"Prefer: respond-async")
	if status != 202 && status != 200 {
		t.Fatal(status, v)
	}
	hear(ended, true)
	p = start(t, environment...)
	hear(ended, false)
	delivered := func() bool {
		return strings.Contains(get(t, p.url+"/api/executions/"+id), `"state":"delivered"`)
	}
	for !delivered() {
		select {
		case message := <-got:
			t.Fatalf("the receiver got %s once more", message)
		default:
		}
	}
	resumed := "execution.resumed msg_" + name + ".resumed.2" // it is not sent if the end came first
	heard = slices.DeleteFunc(heard, func(s string) bool { return s == resumed })
	if fmt.Sprint(heard) != fmt.Sprint([]string{paused, paused, ended, ended}) {
		t.Errorf("the receiver got %q", heard)
	}
}
