//go:build unix

package localinvoke_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// lend is a function process that only prints its address, so that the test can act as the process.
func lend() {
	if os.WriteFile(os.Getenv("LEND"), []byte(os.Getenv("AWS_LAMBDA_RUNTIME_API")), 0o600) != nil {
		os.Exit(8)
	}
	untilKilled()
}

// FuzzRuntimeAPI sends arbitrary requests to the Runtime API from a process that owes an answer: the server never
// panics, the caller gets one reply or one typed error, and the next call is served.
func FuzzRuntimeAPI(f *testing.F) {
	const good = `{"result":{"id":"exec_0123456789","status":"completed"}}` + "\n"
	f.Add("POST", "invocation/ID/response", []byte(good), "", "")
	f.Add("POST", "invocation/ID/response", []byte(`{"log":{"level":"log","message":"x"}}`+"\n"+good),
		"application/x-ndjson", "")
	f.Add("POST", "invocation/ID/response", []byte("half"), "", "Runtime.Broken")
	f.Add("POST", "invocation/ID/error", []byte(`{"errorType":"unrecorded","errorMessage":"x"}`), "application/json",
		"Unhandled")
	f.Add("POST", "invocation/ID/error", []byte(`[`), "", "")
	f.Add("POST", "invocation/other/response", []byte(good), "", "")
	f.Add("GET", "invocation/next", []byte(nil), "", "")
	f.Add("POST", "init/error", []byte(`{}`), "", "")
	f.Add("PUT", "invocation/ID/response", []byte(good), "", "")
	f.Add("POST", "invocation/%2e%2e/next", []byte(good), "", "")

	var out lines
	cfg := config(f)
	pipe := f.TempDir() + "/address"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		f.Fatal(err)
	}
	cfg.Env = []string{"FUNCTION=lend", "LEND=" + pipe}
	cfg.Processes, cfg.MaxAnswer, cfg.Grace = 1, 1<<20, 200*time.Millisecond
	cfg.Logger = slog.New(slog.NewTextHandler(&out, nil))
	base, ids := make(chan string, 1), make(chan string, 1)
	go func() {
		address, err := os.ReadFile(pipe)
		if err != nil {
			f.Error(err)
		}
		at := "http://" + string(address) + "/2018-06-01/runtime/"
		base <- at
		ids <- take(at)
	}()
	p := newPool(f, cfg)
	at := <-base

	f.Fuzz(func(t *testing.T, method, path string, body []byte, contentType, errorType string) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		got := make(chan error, 1)
		go func() {
			r, err := p.Invoke(ctx, invocation("x"), nil)
			var e *execution.Error
			if err != nil && !errors.As(err, &e) {
				t.Errorf("the error is %v", err)
			}
			if err == nil && r.Result.ID != "exec_0123456789" {
				t.Errorf("the result is of %s", r.Result.ID)
			}
			got <- err
		}()
		id := <-ids
		send(t, ctx, method, at+strings.ReplaceAll(path, "ID", id), body, contentType, errorType)
		// After that, a valid answer ends the call, unless it has ended.
		send(t, ctx, "POST", at+"invocation/"+id+"/response", []byte(good), "", "")
		<-got
		go func() { ids <- take(at) }()
		if out.has("panic") {
			t.Fatal("the server panicked")
		}
	})
}

// take asks for the next invocation and returns its ID; "" when there is none any more.
func take(base string) string {
	resp, err := http.Get(base + "invocation/next")
	if err != nil {
		return "" // the pool was closed
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return ""
	}
	return resp.Header.Get("Lambda-Runtime-Aws-Request-Id")
}

func send(t *testing.T, ctx context.Context, method, url string, body []byte, contentType, errorType string) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return // not one that can be sent
	}
	req.Header.Set("Content-Type", contentType)
	req.Trailer = http.Header{"Lambda-Runtime-Function-Error-Type": {errorType}}
	req.ContentLength = -1
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			t.Errorf("%s %s: no answer", method, url)
		}
		return
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Errorf("%s %s: %v", method, url, err)
	}
}
