package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A gateway on one side of the Lambda API and functions on the other: the SDK between them, and one record store.
func TestServeOverLambda(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "audit")
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	lambda := exec.Command(os.Args[0], "lambda-local", "--port", "0", "--name", "fn")
	lambda.Env = []string{"AIRLOCK_TEST_AS_PROGRAM=1", "FUNCTION_PROCESSES=1", "AUDIT_STORE=file://" + store, "AIRLOCK_CACHE_DIR=" + filepath.Join(cache, "airlock")}
	lambda.Stderr = os.Stderr
	out, err := lambda.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := lambda.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = lambda.Process.Kill()
		_ = lambda.Wait()
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("lambda-local did not start")
	}
	_, rest, _ := strings.Cut(lines.Text(), " on ")
	endpoint, _, _ := strings.Cut(rest, ",")
	p := start(t, "INVOKER=lambda", "LAMBDA_FUNCTION=fn", "LAMBDA_ENDPOINT="+endpoint, "AUDIT_STORE=file://"+store, "AWS_EC2_METADATA_DISABLED=true")
	if !strings.Contains(p.start, "Lambda function fn") {
		t.Error(p.start)
	}
	status, v := p.post(t.Context(), t, "/api/execute", `{"code":"console.log('far'); 6*7"}`)
	if status != 200 || v["result"] != 42.0 || v["output"] != "far\n" {
		t.Fatalf("%d %v", status, v)
	}
	if !strings.Contains(fetch(t, p.url+"/readyz"), "ready") || !strings.Contains(fetch(t, p.url+"/api/stats"), `"functions":null`) {
		t.Error(fetch(t, p.url+"/readyz"), fetch(t, p.url+"/api/stats"))
	}
	if record := fetch(t, p.url+"/api/audit/execution/"+v["id"].(string)); !strings.Contains(record, `"via":"http"`) {
		t.Error(record)
	}
}
