package gateway_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/airlock-run/airlock/functions/execution"
)

// The receiver of a job that waits is told of each pause, of each segment after one, and of the end. Each message is
// signed and has one ID, however often it is sent.
func TestCallbacksOfPauses(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	refused := map[string]bool{}
	got := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = signer.Verify(body, r.Header)
		}
		var message struct{ Type string }
		if err = cmp.Or(err, json.Unmarshal(body, &message)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		id := r.Header.Get("webhook-id")
		mu.Lock()
		first := !refused[id]
		refused[id] = true
		mu.Unlock()
		if first {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		got <- message.Type + " " + id
	}))
	t.Cleanup(receiver.Close)
	o := options{}
	o.config.Callbacks.OpenedHosts = []string{"127.0.0.1"}
	s, f := waiting(t, o, []execution.Waiting{refund(1)}, []execution.Waiting{refund(2)})
	body := `{"code":"1","callback":{"url":"` + receiver.URL + `","secret":"` + secret + `"}}`
	id := want(t, s.do(t, "POST", "/api/execute", body, prefer), 202).json(t)["id"].(string)
	name := strings.TrimPrefix(id, "exec_")
	expect := func(want string) {
		t.Helper()
		if g := <-got; g != want {
			t.Errorf("the receiver got %s; want %s", g, want)
		}
	}
	for seq := 1; seq <= 2; seq++ {
		expect(fmt.Sprintf("execution.paused msg_%s.paused.%d", name, seq))
		f.mu.Lock() // the segment does not end before the receiver was called about it
		want(t, s.do(t, "POST", "/api/executions/"+id+"/resume",
			fmt.Sprintf(`{"decisions":[{"seq":%d,"decision":"approve"}]}`, seq), prefer), 202)
		expect(fmt.Sprintf("execution.resumed msg_%s.resumed.%d", name, seq+1))
		f.mu.Unlock()
	}
	expect("execution.completed msg_" + name)
}
