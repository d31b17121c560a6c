package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/alarms/alarmstest"
	"github.com/airlock-run/airlock/infra/state/dynamostate/dynamotest"
)

// lambdaLocal starts airlock lambda-local and returns its URL.
func startLambdaLocal(t *testing.T, name string, environment ...string) (endpoint string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "lambda-local", "--port", "0", "--name", name)
	cmd.Env = append(environment, "AIRLOCK_TEST_AS_PROGRAM=1", "FUNCTION_PROCESSES=1", "AIRLOCK_CACHE_DIR="+engineCache(t))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("lambda-local did not start")
	}
	_, rest, _ := strings.Cut(lines.Text(), " on ")
	endpoint, _, _ = strings.Cut(rest, ",")
	return endpoint
}

// engineCache is where the tests of this package keep the compiled engine.
func engineCache(t *testing.T) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(cache, "airlock")
}

// startOnLambda starts airlock serve as a function of a Runtime API server, and returns a client of the Lambda API that
// invokes it.
func startOnLambda(t *testing.T, environment ...string) *lambda.Client {
	t.Helper()
	pool, err := localinvoke.New(t.Context(), localinvoke.Config{
		Command: []string{os.Args[0], "serve"}, Processes: 1, FunctionName: "gateway", MaxExecution: 5 * time.Minute,
		Env:    append(environment, "AIRLOCK_TEST_AS_PROGRAM=1"),
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(pool.ServiceHandler())
	t.Cleanup(func() {
		server.Close()
		if err := pool.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return lambda.New(lambda.Options{
		BaseEndpoint: &server.URL, Region: "eu-central-1", Credentials: aws.AnonymousCredentials{}, RetryMaxAttempts: 1,
	})
}

// httpEvent is a request as a Function URL and an HTTP API hand it over.
func httpEvent(ip, method, path, body string, headers map[string]string) []byte {
	event, _ := json.Marshal(map[string]any{
		"version": "2.0", "rawPath": path, "headers": headers, "body": body, "isBase64Encoded": false,
		"requestContext": map[string]any{
			"domainName": "abc.lambda-url.eu-central-1.on.aws",
			"http":       map[string]any{"method": method, "path": path, "sourceIp": ip},
		},
	})
	return event
}

// streamed invokes the gateway as a Function URL does: a head in JSON, eight zero bytes, and the body as it comes.
func streamed(t *testing.T, client *lambda.Client, event []byte, seen func(body string)) (status int, body string) {
	t.Helper()
	out, err := client.InvokeWithResponseStream(t.Context(),
		&lambda.InvokeWithResponseStreamInput{FunctionName: aws.String("gateway"), Payload: event})
	if err != nil {
		t.Fatal(err)
	}
	stream := out.GetStream()
	defer stream.Close()
	var all []byte
	for e := range stream.Events() {
		switch e := e.(type) {
		case *types.InvokeWithResponseStreamResponseEventMemberPayloadChunk:
			all = append(all, e.Value.Payload...)
			if _, body, whole := bytes.Cut(all, make([]byte, 8)); whole && seen != nil {
				seen(string(body))
			}
		case *types.InvokeWithResponseStreamResponseEventMemberInvokeComplete:
			if e.Value.ErrorCode != nil {
				t.Fatal(*e.Value.ErrorCode, aws.ToString(e.Value.ErrorDetails))
			}
		}
	}
	head, rest, _ := bytes.Cut(all, make([]byte, 8))
	var answer struct{ StatusCode int }
	if err := json.Unmarshal(head, &answer); err != nil {
		t.Fatalf("%v: %q", err, all)
	}
	return answer.StatusCode, string(rest)
}

// stateOnLambda returns the settings of a new state in a table, or of none if dynalite is not installed.
func stateOnLambda(t *testing.T, s3 *s3test.Server) (settings []string, kept bool) {
	t.Helper()
	tables, err := dynamotest.Start()
	if err != nil {
		t.Fatal(err)
	}
	if tables == nil {
		t.Log(dynamotest.Modules + " is not set: make test-dynamo installs dynalite and sets it")
		return []string{"AIRLOCK_STATE=none"}, false
	}
	t.Cleanup(tables.Stop)
	return []string{"AWS_ENDPOINT_URL_DYNAMODB=" + tables.Endpoint,
		"AIRLOCK_STATE=dynamodb://" + tables.Table(t) + "?contents=s3://" + s3.Bucket(t) + "/contents"}, true
}

// The gateway as Lambda runs it, behind a Function URL that streams: real processes on both sides of the Lambda API,
// and a real S3 server for their records.
func TestServeOnLambda(t *testing.T) {
	t.Parallel()
	s3, err := s3test.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s3.Stop)
	seen := make(chan struct{})
	tool := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-seen:
		case <-t.Context().Done():
		}
		_, _ = io.WriteString(w, `{"result":"seen"}`)
	}))
	t.Cleanup(tool.Close)
	common := append(s3test.Environment(), "AUDIT_STORE=s3://"+s3.Bucket(t)+"/audit",
		"HANDOVER_STORE=s3://"+s3.Bucket(t)+"/handover",
		"S3_ENDPOINT="+s3.Endpoint, "EGRESS_ALLOW=127.0.0.1")
	functions := startLambdaLocal(t, "fn", common...)
	state, kept := stateOnLambda(t, s3)
	gateway := append(slices.Concat(common, state), "INVOKER=lambda", "LAMBDA_FUNCTION=fn", "LAMBDA_ENDPOINT="+functions,
		"API_KEY=the-key-of-the-test",
		"REDIS_URL=", "JWT_JWKS_URL=", "CORS_ORIGINS=", "RATE_LIMIT_MAX_REQUESTS=8")
	client := startOnLambda(t, gateway...)
	headers := map[string]string{"content-type": "application/json", "authorization": "Bearer the-key-of-the-test",
		"x-forwarded-for": "203.0.113.9"}

	// The first chunk is with the caller while the guest is still waiting for the tool, which waits for the caller.
	body := fmt.Sprintf(`{"code":"console.log('one'); const r = await t.wait({}); console.log(r); `+
		`return 6 * 7","policy":"agent","tools":[{"name":"t:wait","url":%q}]}`, tool.URL)
	first, once := false, map[string]any{}
	status, events := streamed(t, client, httpEvent("192.0.2.7", "POST", "/api/execute/stream", body, headers),
		func(body string) {
			if !first && strings.Contains(body, `"chunk":"one\n"`) {
				first = true
				close(seen)
			}
		})
	if status != 200 {
		t.Fatalf("%d\n%s", status, events)
	}
	contains(t, "the stream", events, "event: complete", `"result":42`, `"chunk":"seen\n"`)
	// The record is in the bucket, with the address that the event names.
	status, list := streamed(t, client, httpEvent("192.0.2.7", "GET", "/api/audit/executions", "", headers), nil)
	if status != 200 || !strings.Contains(list, `"ip":"192.0.2.7"`) || strings.Contains(list, "203.0.113.9") {
		t.Errorf("%d %s", status, list)
	}
	// Neither an address nor the loopback stands for a credential; guesses count against the address that the event
	// names.
	for n := range 10 {
		event := httpEvent("198.51.100.1", "POST", "/api/execute", `{"code":"1"}`,
			map[string]string{"content-type": "application/json", "x-forwarded-for": fmt.Sprint("203.0.113.", n)})
		want := 401
		if n >= 8 {
			want = 429
		}
		if status, body := streamed(t, client, event, nil); status != want {
			t.Errorf("attempt %d: %d %s", n, status, body)
		}
	}
	if status, body := streamed(t, client, httpEvent("198.51.100.2", "POST", "/api/execute", `{"code":"1"}`, nil),
		nil); status != 401 {
		t.Errorf("another address: %d %s", status, body)
	}
	// No process runs jobs later. A gateway without state has no jobs, and responds at once.
	headers["prefer"] = "respond-async"
	want := 200
	if kept {
		want = 501
	}
	if status, body := streamed(t, client, httpEvent("192.0.2.7", "POST", "/api/execute", `{"code":"1"}`, headers),
		nil); status != want || kept != strings.Contains(body, "stateless") {
		t.Errorf("a job: %d %s, want %d", status, body, want)
	}
	delete(headers, "prefer")

	// State is shared: another gateway knows a function that one gateway saved, and the key of a request that it
	// served.
	if status, body := streamed(t, client, httpEvent("192.0.2.7", "PUT", "/api/functions/f",
		`{"code":"export default n => n * 2"}`, headers), nil); kept && status != 201 {
		t.Errorf("saving a function: %d %s", status, body)
	}
	if kept {
		headers["idempotency-key"] = "once"
	}
	if status, body := streamed(t, client, httpEvent("192.0.2.7", "POST", "/api/execute", `{"code":"Math.random()"}`,
		headers), nil); status != 200 {
		t.Errorf("%d %s", status, body)
	} else if err := json.Unmarshal([]byte(body), &once); err != nil {
		t.Error(err)
	}
	elsewhere := start(t, append(gateway, "MAX_BODY_SIZE=12000000")...)
	const authorization = "Authorization: Bearer the-key-of-the-test"
	if status, v := elsewhere.post(t.Context(), t, "/api/functions/f/invoke", `{"input":21}`,
		authorization); kept && (status != 200 || v["result"] != 42.0) {
		t.Errorf("another gateway's function: %d %v", status, v)
	}
	if status, v := elsewhere.post(t.Context(), t, "/api/execute", `{"code":"Math.random()"}`, authorization,
		"Idempotency-Key: once"); kept {
		if status != 200 {
			t.Errorf("another gateway's answer: %d %v", status, v)
		}
		for _, member := range []string{"id", "result"} {
			if v[member] != once[member] {
				t.Errorf("another gateway's answer: %s is %v, want %v", member, v[member], once[member])
			}
		}
	}

	// An input that is too large for an invocation goes through the bucket.
	status, v := elsewhere.post(t.Context(), t, "/api/execute",
		`{"code":"input.length","policy":"agent","input":"`+strings.Repeat("x", 7<<20)+`"}`,
		authorization)
	if status != 200 || v["result"] != float64(7<<20) {
		t.Errorf("7 MiB of input: %d %v", status, v)
	}

	// The same behind an HTTP API, which takes whole answers.
	whole := startOnLambda(t, append(gateway, "LAMBDA_FRONT=buffer")...)
	event := httpEvent("192.0.2.7", "POST", "/api/execute/stream", `{"code":"console.log('a'); 1"}`, headers)
	out, err := whole.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("gateway"), Payload: event})
	var answer struct {
		StatusCode int
		Body       string
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Payload, &answer); err != nil || answer.StatusCode != 200 {
		t.Errorf("%v %s", err, out.Payload)
	}
	contains(t, "the whole answer", answer.Body, "event: complete")
}

// Jobs on Lambda: the gateway stores them and wakes a function that runs them. Alarms call that function, too, for jobs
// that nobody was woken for and for schedules. The processes and the S3 server are real, with Lambda's API between
// them.
func TestJobsOnLambda(t *testing.T) {
	t.Parallel()
	s3, err := s3test.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s3.Stop)
	calls := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- string(body)
	}))
	t.Cleanup(receiver.Close)
	state, kept := stateOnLambda(t, s3)
	if !kept {
		t.Skip("jobs on Lambda need a table")
	}
	clock := alarmstest.Start()
	t.Cleanup(clock.Close)
	common := append(slices.Concat(s3test.Environment(), state), "AWS_ENDPOINT_URL_SCHEDULER="+clock.Endpoint(),
		"LAMBDA_ALARMS="+clock.URL(), "AUDIT_STORE=s3://"+s3.Bucket(t)+"/audit",
		"S3_ENDPOINT="+s3.Endpoint, "EGRESS_ALLOW=127.0.0.1", "INVOKER=lambda", "LAMBDA_FUNCTION=fn",
		"LAMBDA_ENDPOINT="+startLambdaLocal(t, "fn", append(s3test.Environment(),
			"S3_ENDPOINT="+s3.Endpoint, "AUDIT_STORE=s3://"+s3.Bucket(t)+"/functions")...))
	worker := startOnLambda(t, slices.Concat(common, []string{"LAMBDA_FRONT=jobs"})...)
	// The calls of the gateway to Lambda. While asleep is set, they wake no function.
	asleep, later := make(chan struct{}, 10), sync.WaitGroup{}
	lambdaAPI := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/functions/asleep/") {
			asleep <- struct{}{}
			w.WriteHeader(http.StatusForbidden)
			return
		}
		payload, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		later.Go(func() { // as the service does
			out, err := worker.Invoke(context.WithoutCancel(t.Context()),
				&lambda.InvokeInput{FunctionName: aws.String("gateway"), Payload: payload})
			if err != nil || out.FunctionError != nil {
				t.Errorf("%v %v", err, out)
			}
		})
	}))
	t.Cleanup(func() { lambdaAPI.Close(); later.Wait() })
	gateway := slices.Concat(common, []string{"LAMBDA_ENDPOINT=" + lambdaAPI.URL, "API_KEY=the-key-of-the-test",
		"RATE_LIMIT_MAX_REQUESTS=1000000", "CALLBACK_SECRET=whsec_c2VjcmV0IG9mIHRoZSB0ZXN0"})
	awake := startOnLambda(t, slices.Concat(gateway, []string{"LAMBDA_JOBS_FUNCTION=jobs"})...)
	sleeping := startOnLambda(t, slices.Concat(gateway, []string{"LAMBDA_JOBS_FUNCTION=asleep"})...)
	headers := map[string]string{"content-type": "application/json", "authorization": "Bearer the-key-of-the-test",
		"prefer": "respond-async"}
	submit := func(client *lambda.Client, code string) (id string) {
		t.Helper()
		status, body := streamed(t, client, httpEvent("192.0.2.7", "POST", "/api/execute",
			fmt.Sprintf(`{"code":%q,"callback":{"url":%q}}`, code, receiver.URL), headers), nil)
		var kept struct{ ID, Status string }
		if err := json.Unmarshal([]byte(body), &kept); err != nil || status != 202 || kept.Status != "queued" {
			t.Fatalf("%d %s", status, body)
		}
		return kept.ID
	}
	result := func(id string) map[string]any {
		t.Helper()
		status, body := streamed(t, sleeping, httpEvent("192.0.2.7", "GET", "/api/result/"+id, "", headers), nil)
		var v map[string]any
		if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 {
			t.Fatalf("%d %s", status, body)
		}
		return v
	}
	called := func(id string) {
		t.Helper()
		select {
		case body := <-calls:
			if !strings.Contains(body, id) {
				t.Errorf("called back with %s, and not for %s", body, id)
			}
		case <-t.Context().Done():
			t.Fatal("nobody was called back")
		}
	}
	id := submit(awake, "6 * 7")
	called(id)
	if v := result(id); v["status"] != "completed" || v["result"] != 42.0 { // of another gateway than it was submitted to
		t.Errorf("%v", v)
	}
	// Nobody is woken: the call of an alarm finds the job, and runs it once, however often it comes.
	id = submit(sleeping, "7 * 7")
	<-asleep
	if v := result(id); v["status"] != "queued" {
		t.Errorf("%v", v)
	}
	soon := time.Now().Add(2 * time.Minute)
	if alarms := clock.Fire(soon); len(alarms) == 0 {
		t.Error("no alarm is set for a job that waits")
	}
	tick, err := os.ReadFile("../../../infra/deploy/events/scheduled.json")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out, err := worker.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("gateway"), Payload: tick})
		if err != nil || out.FunctionError != nil {
			t.Fatalf("%v %s", err, out.Payload)
		}
	}
	called(id)
	if v := result(id); v["result"] != 49.0 {
		t.Errorf("%v", v)
	}
	// A schedule is stored, and any gateway can cancel what waits.
	delete(headers, "prefer")
	status, body := streamed(t, awake, httpEvent("192.0.2.7", "PUT", "/api/functions/f",
		`{"code":"1","schedule":{"cron":"0 0 1 1 *"}}`, headers), nil)
	if status != 201 {
		t.Errorf("%d %s", status, body)
	}
	clock.Fire(soon.Add(time.Hour))
	if at, is := clock.Next(); !is || at.YearDay() != 1 || at.Hour()+at.Minute() != 0 {
		t.Errorf("the alarm of a schedule at the beginning of a year is at %v (%v)", at, is)
	}
	headers["prefer"] = "respond-async"
	id = submit(sleeping, "for (;;);")
	status, body = streamed(t, awake, httpEvent("192.0.2.7", "DELETE", "/api/result/"+id, "", headers), nil)
	if status != 200 || !strings.Contains(body, `"status":"cancelled"`) {
		t.Errorf("%d %s", status, body)
	}
	// The function that runs jobs serves no other requests.
	out, err := worker.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("gateway"),
		Payload: httpEvent("192.0.2.7", "GET", "/healthz", "", nil)})
	if err != nil || out.FunctionError == nil || !strings.Contains(string(out.Payload), "it runs jobs") {
		t.Errorf("%v %s", err, out.Payload)
	}
}

// A gateway whose settings do not fit Lambda does not start there, and says why.
func TestServeOnLambdaRefusesToStart(t *testing.T) {
	t.Parallel()
	_, err := localinvoke.New(t.Context(), localinvoke.Config{
		Command: []string{os.Args[0], "serve"}, Processes: 1, StartTimeout: 5 * time.Second,
		Env: []string{"AIRLOCK_TEST_AS_PROGRAM=1", "AUDIT_STORE=s3://bucket/audit", "INVOKER=lambda", "LAMBDA_FUNCTION=fn"},
	})
	if err == nil || !strings.Contains(err.Error(), "API_KEY: is not set, nor is another credential") {
		t.Errorf("%v", err)
	}
}
