package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
)

// checkGateway unpacks a gateway's zip and checks that it answers from there as a function behind a Function URL:
// that it is healthy, and that it refuses requests without a credential. The services that it calls answer that it
// has no access.
func checkGateway(ctx context.Context, t target, data []byte) (result string, err error) {
	dir, err := os.MkdirTemp("", "airlock-check-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := unpack(data, dir); err != nil {
		return "", err
	}
	// An emulator runs programs, not scripts: start what the script would start.
	command, patience := []string{filepath.Join(dir, "bootstrap")}, 20*time.Second
	if t.emulated() {
		if command, err = t.command(filepath.Join(dir, "airlock")); err != nil {
			return "", err
		}
		command, patience = append(command, "serve"), 5*time.Minute
	}
	services := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer services.Close()
	var log bytes.Buffer
	began := time.Now()
	pool, err := localinvoke.New(ctx, localinvoke.Config{
		Command: command, Processes: 1, StartTimeout: patience, MaxExecution: patience, MaxMemory: 2 << 30,
		FunctionName: "gateway",
		Logger:       slog.New(slog.NewTextHandler(&log, nil)),
		Env: []string{
			"LAMBDA_TASK_ROOT=" + dir, "PATH=" + os.Getenv("PATH"), "API_KEY=a-key-of-this-check", "INVOKER=lambda",
			"LAMBDA_FUNCTION=airlock-{policy}",
			"LAMBDA_ENDPOINT=" + services.URL, "S3_ENDPOINT=" + services.URL, "AUDIT_STORE=s3://bucket/audit",
			"AIRLOCK_STATE=none",
			"AWS_ACCESS_KEY_ID=any", "AWS_SECRET_ACCESS_KEY=thing", "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true",
		},
	})
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, log.String())
	}
	api := pool.ServiceHandler()
	err = errors.Join(
		answersRequest(ctx, api, "GET", "/healthz", `"statusCode":200`),
		answersRequest(ctx, api, "POST", "/api/execute", `"statusCode":401`),
	)
	took := time.Since(began)
	if err := errors.Join(err, pool.Close(ctx)); err != nil {
		return "", fmt.Errorf("%w\n%s", err, log.String())
	}
	return fmt.Sprintf("served from the zip %s, start to answers %v", t.how(), took.Round(time.Millisecond)), nil
}

// answersRequest sends one request to the gateway behind api, as a streaming Function URL would, and checks the
// answer.
func answersRequest(ctx context.Context, api http.Handler, method, path, want string) error {
	event := fmt.Sprintf(`{"version":"2.0","rawPath":%q,"headers":{"content-type":"application/json"},`+
		`"body":"{\"code\":\"1\"}",`+
		`"requestContext":{"domainName":"airlock.example","http":{"method":%q,"path":%[1]q,"sourceIp":"192.0.2.7"}}}`, path,
		method)
	request := httptest.NewRequestWithContext(ctx, http.MethodPost,
		"/2021-11-15/functions/gateway/response-streaming-invocations", strings.NewReader(event))
	response := httptest.NewRecorder()
	api.ServeHTTP(response, request)
	if got := response.Body.String(); !strings.Contains(got, want) {
		return fmt.Errorf("%s %s: the answer %.300q does not hold %s", method, path, got, want)
	}
	return nil
}
