package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// The AWS CLI, of either major version, is a client of airlock lambda-local. The test is skipped where it is not
// installed.
func TestAWSCommandLine(t *testing.T) {
	t.Parallel()
	version, err := exec.Command("aws", "--version").CombinedOutput()
	if err != nil {
		t.Skipf("the AWS CLI is not installed: %v", err)
	}
	dir := t.TempDir()
	endpoint := startLambdaLocal(t, "fn", "AUDIT_STORE=file://"+filepath.Join(dir, "audit"))
	invoke := func(function, payload string, more ...string) (meta map[string]any, answer string, err error) {
		out := filepath.Join(dir, "out.json")
		args := []string{"lambda", "invoke", "--endpoint-url", endpoint, "--function-name", function, "--payload", payload,
			"--output", "json"}
		if !strings.HasPrefix(string(version), "aws-cli/1") {
			args = append(args, "--cli-binary-format", "raw-in-base64-out")
		}
		cmd := exec.Command("aws", append(append(args, more...), out)...)
		cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=any", "AWS_SECRET_ACCESS_KEY=thing", "AWS_REGION=eu-central-1",
			"AWS_DEFAULT_REGION=eu-central-1",
			"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull,
			"AWS_PAGER=", "AWS_MAX_ATTEMPTS=1")
		text, err := cmd.CombinedOutput()
		if err != nil {
			return nil, string(text), err
		}
		if err := json.Unmarshal(text, &meta); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		body, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return meta, string(body), nil
	}
	meta, answer, err := invoke("fn", `{"code":"console.log('hello'); 6 * 7","policy":"strict"}`, "--log-type", "Tail")
	if err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	for member, want := range map[string]any{"StatusCode": 200.0, "ExecutedVersion": "$LATEST", "FunctionError": nil} {
		if meta[member] != want {
			t.Errorf("%s is %v, want %v", member, meta[member], want)
		}
	}
	contains(t, "the result", answer, `"result":42`, `"output":"hello\n"`)
	if _, err := base64.StdEncoding.DecodeString(meta["LogResult"].(string)); err != nil {
		t.Errorf("the tail of the log: %v", err)
	}
	if meta, answer, err := invoke("arn:aws:lambda:eu-central-1:123456789012:function:fn", `{"cod":"1"}`); err != nil ||
		meta["FunctionError"] != "Unhandled" || !strings.Contains(answer, `"errorType":"invalid_request"`) {
		t.Errorf("%v %v %s", err, meta, answer)
	}
	if meta, _, err := invoke("fn", `{"code":"1"}`, "--invocation-type", "DryRun"); err != nil ||
		meta["StatusCode"] != 204.0 {
		t.Errorf("%v %v", err, meta)
	}
	if meta, _, err := invoke("fn", `{"code":"1"}`, "--invocation-type", "Event"); err != nil ||
		meta["StatusCode"] != 202.0 {
		t.Errorf("%v %v", err, meta)
	}
	if _, text, err := invoke("other", `{"code":"1"}`); err == nil ||
		!strings.Contains(text, "ResourceNotFoundException") {
		t.Errorf("%v %s", err, text)
	}
	if _, text, err := invoke("fn", `{"code":`); err == nil || !strings.Contains(text, "InvalidRequestContentException") {
		t.Errorf("%v %s", err, text)
	}
}

// The SDK reads streams, which the CLI cannot: each log is a chunk of its own before the result.
func TestSDKStreamsFromLambdaLocal(t *testing.T) {
	t.Parallel()
	endpoint := startLambdaLocal(t, "fn", "AUDIT_STORE=file://"+filepath.Join(t.TempDir(), "audit"))
	client := lambda.New(lambda.Options{BaseEndpoint: &endpoint, Region: "eu-central-1",
		Credentials: aws.AnonymousCredentials{}})
	payload := `{"airlock":1,"id":"exec_01JD0000000000000000000000","stream":true,"via":"lambda",` +
		`"receivedAt":"2026-01-02T03:04:05Z","queueMs":0,"caller":{},` +
		`"request":{"code":"console.log('a'); console.log('b'); 6 * 7"}}`
	out, err := client.InvokeWithResponseStream(t.Context(),
		&lambda.InvokeWithResponseStreamInput{FunctionName: aws.String("fn"), Payload: []byte(payload)})
	if err != nil {
		t.Fatal(err)
	}
	stream := out.GetStream()
	defer stream.Close()
	var text string
	complete := false
	for e := range stream.Events() {
		switch e := e.(type) {
		case *types.InvokeWithResponseStreamResponseEventMemberPayloadChunk:
			text += string(e.Value.Payload)
		case *types.InvokeWithResponseStreamResponseEventMemberInvokeComplete:
			complete = e.Value.ErrorCode == nil
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if !complete {
		t.Errorf("the stream is not complete: %s", text)
	}
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3: %s", len(lines), text)
	}
	for i, want := range []string{`"message":"a"`, `"message":"b"`, `"result":42`} {
		contains(t, fmt.Sprint("line ", i), lines[i], want)
	}
}
