package lambdainvoke_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
)

const woken = "exec_0123456789"

func TestWake(t *testing.T) {
	t.Parallel()
	var calls []string
	answers := []int{http.StatusInternalServerError, http.StatusAccepted} // asking again does no harm
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		calls = append(calls, r.URL.Path+" "+r.Header.Get("X-Amz-Invocation-Type")+" "+string(body))
		w.WriteHeader(answers[min(len(calls), len(answers))-1])
	}))
	t.Cleanup(server.Close)
	w, err := lambdainvoke.NewWaker(t.Context(),
		lambdainvoke.Config{Function: "jobs", Endpoint: server.URL, Credentials: keys{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Wake(t.Context(), woken); err != nil {
		t.Error(err)
	}
	const want = "/2015-03-31/functions/jobs/invocations Event "
	if len(calls) != 2 || calls[1] != want+string(execution.RunDuePayload(woken)) {
		t.Errorf("%q", calls)
	}
	answers = []int{http.StatusForbidden}
	if err := w.Wake(t.Context(), woken); err == nil || !strings.Contains(err.Error(), `wake function "jobs"`) {
		t.Errorf("%v", err)
	}
	if _, err := lambdainvoke.NewWaker(t.Context(), lambdainvoke.Config{}); err == nil {
		t.Error("a waker of nobody")
	}
}
