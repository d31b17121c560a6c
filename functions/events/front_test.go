package events_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/events"
	lambdaevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdaurl"
)

// behind starts a real HTTP server and returns the front before it.
func behind(t *testing.T, h http.HandlerFunc) http.Handler {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return events.Front(target)
}

func urlRequest(t *testing.T,
	change func(*lambdaevents.LambdaFunctionURLRequest)) *lambdaevents.LambdaFunctionURLRequest {
	t.Helper()
	var event lambdaevents.LambdaFunctionURLRequest
	if err := json.Unmarshal(read(t, "../../infra/deploy/events/function-url.json"), &event); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&event)
	}
	return &event
}

// TestFrontStreams: the first chunk is read while the server is still waiting to write the second.
func TestFrontStreams(t *testing.T) {
	goOn := make(chan struct{})
	front := behind(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: chunk\n\n")
		_ = http.NewResponseController(w).Flush()
		<-goOn
		fmt.Fprint(w, "event: complete\n\n")
	})
	response, err := lambdaurl.Wrap(front)(t.Context(), urlRequest(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != 200 || response.Headers["Content-Type"] != "text/event-stream" {
		t.Fatalf("got %d %v", response.StatusCode, response.Headers)
	}
	first := make([]byte, len("event: chunk\n\n"))
	if _, err := io.ReadFull(response.Body, first); err != nil || string(first) != "event: chunk\n\n" {
		t.Fatalf("first chunk %q, %v", first, err)
	}
	close(goOn)
	if rest, err := io.ReadAll(response.Body); err != nil || string(rest) != "event: complete\n\n" {
		t.Fatalf("rest %q, %v", rest, err)
	}
}

func TestFrontPassesTheRequestOn(t *testing.T) {
	front := behind(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		http.SetCookie(w, &http.Cookie{Name: "s", Value: "1"})
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s|%s|%s|%s|%s", r.Method, r.Host, r.URL, body, r.Header.Get("X-Forwarded-For"),
			r.Header.Get("Cookie"), r.Header.Get("Forwarded"))
	})
	event := urlRequest(t, func(e *lambdaevents.LambdaFunctionURLRequest) {
		e.RawPath, e.RawQueryString, e.Cookies = "/api/execute", "a=1&b=%20", []string{"s=0", "t=1"}
		e.Headers["x-forwarded-for"], e.Headers["forwarded"] = "10.0.0.1", "for=10.0.0.1"
	})
	for name, serve := range map[string]func() (int, []string, string){
		"streamed": func() (int, []string, string) {
			r, err := lambdaurl.Wrap(front)(t.Context(), event)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			return r.StatusCode, r.Cookies, string(body)
		},
		"buffered": func() (int, []string, string) {
			raw, err := events.Buffered(front)(t.Context(), event)
			var r lambdaevents.LambdaFunctionURLResponse
			if err != nil || json.Unmarshal(raw, &r) != nil {
				t.Fatal(err)
			}
			return r.StatusCode, r.Cookies, r.Body
		},
	} {
		t.Run(name, func(t *testing.T) {
			status, cookies, body := serve()
			want := `POST abcdefghij.lambda-url.eu-central-1.on.aws /api/execute?a=1&b=%20|{"code": "6 * 7"}|192.0.2.7|s=0; t=1|`
			if status != http.StatusTeapot || body != want || len(cookies) != 1 {
				t.Errorf("got %d %v\n%s, want\n%s", status, cookies, body, want)
			}
		})
	}
}

func TestBufferedLimitsAndBinary(t *testing.T) {
	body := ""
	front := behind(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
	got := func() httpAnswer {
		raw, err := events.Buffered(front)(t.Context(), urlRequest(t, nil))
		var a httpAnswer
		if err != nil || json.Unmarshal(raw, &a) != nil {
			t.Fatal(err)
		}
		return a
	}
	body = "\xff\x00"
	if a := got(); a.Body != "/wA=" || !a.IsBase64Encoded {
		t.Errorf("binary: %+v", a)
	}
	body = strings.Repeat("x", 7<<20)
	if a := got(); a.StatusCode != 500 || a.header("Content-Type") != "application/problem+json" {
		t.Errorf("7 MiB: %d %.100s", a.StatusCode, a.Body)
	}
	if _, err := events.Buffered(front)(t.Context(), &lambdaevents.LambdaFunctionURLRequest{}); err == nil {
		t.Error("an event that is no HTTP request was served")
	}
}

func TestFrontWithoutServer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	raw, err := events.Buffered(events.Front(target))(t.Context(), urlRequest(t, nil))
	var a httpAnswer
	if err = errors.Join(err, json.Unmarshal(raw, &a)); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if got := a.header("Retry-After"); a.StatusCode != 503 || got != "1" {
		t.Errorf("status %d with Retry-After %q, want 503 with 1", a.StatusCode, got)
	}
	if strings.Contains(a.Body, "127.0.0.1") {
		t.Errorf("the answer names an address: %s", a.Body)
	}
}
