package handover_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/handover"
	"github.com/airlock-run/airlock/infra/invoke/invoketest"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
)

var server *s3test.Server

// TestMain makes this test program its own function process.
func TestMain(m *testing.M) {
	s3test.SetEnvironment()
	if os.Getenv("FUNCTION") == "1" {
		store, err := handover.Open(context.Background(), os.Getenv("STORE"), os.Getenv("ENDPOINT"))
		if err != nil {
			panic(err)
		}
		events.Serve(invoketest.Function, events.HandedOver(store.Get))
	}
	server = s3test.MustStart()
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// deployment is a bucket, function processes behind the Lambda API that read from it, and a gateway's client of both.
type deployment struct {
	bucket string
	url    string
	asked  atomic.Int32 // calls of the Lambda API
	client *lambdainvoke.Client
}

func deploy(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{bucket: server.Bucket(t)}
	at := "s3://" + d.bucket + "/handover"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pool, err := localinvoke.New(t.Context(), localinvoke.Config{
		Command: []string{self}, Processes: 1,
		Env: append(s3test.Environment(), "FUNCTION=1", "STORE="+at, "ENDPOINT="+server.Endpoint),
	})
	if err != nil {
		t.Fatal(err)
	}
	api := pool.ServiceHandler()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.asked.Add(1)
		api.ServeHTTP(w, r)
	}))
	d.url = service.URL
	t.Cleanup(func() {
		service.Close()
		if err := pool.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	store, err := handover.Open(t.Context(), at, server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	d.client, err = lambdainvoke.New(t.Context(),
		lambdainvoke.Config{Function: "airlock", Endpoint: d.url, Handover: store})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *deployment) keys(t *testing.T) (keys []string) {
	t.Helper()
	out, err := server.Client(t).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &d.bucket})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out.Contents {
		keys = append(keys, aws.ToString(o.Key))
	}
	return keys
}

// direct invokes the function without the gateway, as a caller with that permission could.
func (d *deployment) direct(t *testing.T, payload []byte) (answer string) {
	t.Helper()
	api := lambda.New(lambda.Options{BaseEndpoint: &d.url, Region: "us-east-1", Credentials: aws.AnonymousCredentials{},
		RetryMaxAttempts: 1})
	out, err := api.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("airlock"), Payload: payload})
	if err != nil {
		t.Fatal(err)
	}
	return string(out.Payload)
}

func input(bytes int) json.RawMessage {
	return json.RawMessage(`"` + strings.Repeat("x", bytes-2) + `"`)
}

func TestHandOver(t *testing.T) {
	d := deploy(t)
	small := invoketest.Invocation(1, "echo")
	if r, err := d.client.Invoke(t.Context(), small, nil); err != nil || !r.Recorded || len(d.keys(t)) != 0 {
		t.Fatalf("%v %v %v", r.Result.Status, err, d.keys(t))
	}
	large := invoketest.Invocation(2, "echo")
	large.Request.Input = input(9 << 20)
	r, err := d.client.Invoke(t.Context(), large, nil)
	if err != nil || !bytes.Equal(r.Result.Result, large.Request.Input) {
		t.Fatalf("%d bytes came back, %v", len(r.Result.Result), err)
	}
	keys := d.keys(t)
	if len(keys) != 1 || !strings.HasPrefix(keys[0], "handover/"+large.ID+"/") {
		t.Errorf("the bucket holds %q", keys)
	}
	// The same again, as by a gateway that lost the first answer: there is still one object.
	if _, err := d.client.Invoke(t.Context(), large, nil); err != nil || len(d.keys(t)) != 1 {
		t.Errorf("%v %q", err, d.keys(t))
	}
}

func TestTooLargeForAll(t *testing.T) {
	d := deploy(t)
	huge := invoketest.Invocation(1, "echo")
	huge.Request.Input = input(execution.MaxInvocationBytes)
	_, err := d.client.Invoke(t.Context(), huge, nil)
	var e *execution.Error
	most := strconv.Itoa(execution.MaxInvocationBytes)
	if !errors.As(err, &e) || e.Code != execution.TooLarge || !strings.Contains(e.Message, most) {
		t.Errorf("the error is %v", err)
	}
	if calls, keys := d.asked.Load(), d.keys(t); calls != 0 || len(keys) != 0 {
		t.Errorf("%d calls, %q", calls, keys)
	}
}

// Without its bucket nothing runs, and the caller may try again.
func TestBucketAway(t *testing.T) {
	d := deploy(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	store, err := handover.Open(t.Context(), "s3://"+d.bucket+"/handover", gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Put(t.Context(), "exec_01JD0000000000000000000000", []byte("{}"))
	var e *execution.Error
	if !errors.As(err, &e) || e.Code != execution.Unavailable || e.RetryAfter == 0 {
		t.Errorf("%v", err)
	}
}

// Whoever may invoke the function directly can name nothing that it does not know byte for byte.
func TestForgedHandovers(t *testing.T) {
	d := deploy(t)
	victim := invoketest.Invocation(7, "echo")
	victim.Request.Input = input(7 << 20)
	if _, err := d.client.Invoke(t.Context(), victim, nil); err != nil {
		t.Fatal(err)
	}
	victimKey := d.keys(t)[0]
	for key, body := range map[string]string{
		"audit/executions/dt=2026-01-02/" + victim.ID + ".json":                         "{}",
		"handover/" + victim.ID + "/" + strings.Repeat("0", 64) + ".json":               `{"code":"echo"}`,
		"handover/../audit/" + victim.ID + "/" + strings.Repeat("1", 64) + ".json":      `{"code":"echo"}`,
		"handover/exec_01JD0000000000000000000000/" + strings.Repeat("2", 64) + ".json": `{"code":"echo"}`,
	} {
		// Not every server accepts names with dots as keys. Then there is no such object either.
		_, _ = server.Client(t).PutObject(t.Context(),
			&s3.PutObjectInput{Bucket: &d.bucket, Key: &key, Body: strings.NewReader(body)})
	}
	whole, err := server.Client(t).GetObject(t.Context(), &s3.GetObjectInput{Bucket: &d.bucket, Key: &victimKey})
	if err != nil {
		t.Fatal(err)
	}
	size := int(aws.ToInt64(whole.ContentLength))
	sum := strings.TrimSuffix(victimKey[strings.LastIndex(victimKey, "/")+1:], ".json")
	other := "exec_01JD0000000000000000000000"
	for name, c := range map[string]struct{ payload, want string }{
		"its id, a guessed hash": {fmt.Sprintf(`{"airlock":1,"handover":{"id":%q,"sha256":%q,"bytes":%d}}`, victim.ID,
			strings.Repeat("a", 64), size), `"errorType":"invalid_request"`},
		"its hash, another id": {fmt.Sprintf(`{"airlock":1,"handover":{"id":%q,"sha256":%q,"bytes":%d}}`, other, sum,
			size), `"errorType":"invalid_request"`},
		"fewer bytes than there are": {fmt.Sprintf(`{"airlock":1,"handover":{"id":%q,"sha256":%q,"bytes":1}}`, victim.ID,
			sum), `"errorType":"unavailable"`},
		"more bytes than there are": {fmt.Sprintf(`{"airlock":1,"handover":{"id":%q,"sha256":%q,"bytes":%d}}`, victim.ID,
			sum, size+1), `"errorType":"internal"`},
		"bytes that are not the hash": {fmt.Sprintf(`{"airlock":1,"handover":{"id":%q,"sha256":%q,"bytes":15}}`, victim.ID,
			strings.Repeat("0", 64)), `"errorType":"internal"`},
		"a path as the id": {fmt.Sprintf(`{"airlock":1,"handover":{"id":"../audit/executions","sha256":%q,"bytes":2}}`, sum),
			`handover.id`},
		"a path as the hash": {fmt.Sprintf(`{"airlock":1,"handover":{"id":%q,"sha256":"../../audit/x","bytes":2}}`,
			victim.ID), `handover.sha256`},
		"a key": {fmt.Sprintf(`{"airlock":1,"handover":{"id":%q,"sha256":%q,"bytes":%d,"key":"audit/x"}}`, victim.ID, sum,
			size), `"errorType":"invalid_request"`},
	} {
		if got := d.direct(t, []byte(c.payload)); !strings.Contains(got, c.want) || strings.Contains(got, `"status"`) {
			t.Errorf("%s: %.200s", name, got)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, url := range []string{"", "bucket", "file:///tmp", "s3://", "s3:///prefix", "s3://bucket/a//b"} {
		if _, err := handover.Open(t.Context(), url, ""); err == nil {
			t.Errorf("%q was opened", url)
		}
	}
}
