package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A gateway on one side of the Lambda API and functions on the other: the SDK between them, and one record store.
func TestServeOverLambda(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "audit")
	endpoint := startLambdaLocal(t, "fn", "AUDIT_STORE=file://"+store)
	p := start(t, "INVOKER=lambda", "LAMBDA_FUNCTION=fn", "LAMBDA_ENDPOINT="+endpoint, "AUDIT_STORE=file://"+store,
		"AWS_EC2_METADATA_DISABLED=true")
	if !strings.Contains(p.start, "Lambda function fn") {
		t.Error(p.start)
	}
	status, v := p.post(t.Context(), t, "/api/execute", `{"code":"console.log('far'); 6*7"}`)
	if status != 200 || v["result"] != 42.0 || v["output"] != "far\n" {
		t.Fatalf("%d %v", status, v)
	}
	if !strings.Contains(fetch(t, p.url+"/readyz"), "ready") ||
		!strings.Contains(fetch(t, p.url+"/api/stats"), `"functions":null`) {
		t.Error(fetch(t, p.url+"/readyz"), fetch(t, p.url+"/api/stats"))
	}
	if record := fetch(t, p.url+"/api/audit/execution/"+v["id"].(string)); !strings.Contains(record, `"via":"http"`) {
		t.Error(record)
	}
}
