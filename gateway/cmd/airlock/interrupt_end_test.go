package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

// A preparation that cannot be interrupted delays neither the limit nor a signal.
func TestPreparationEndsWithTheCommand(t *testing.T) {
	t.Parallel()
	endless := "enum E{" + strings.Repeat("a,", 40_000) + "}"
	cmd, _, errs := asProgram(t, nil, "run", "-e", endless, "--language", "typescript", "--policy", "agent", "--timeout",
		"200ms")
	_ = cmd.Wait() // the code says it
	if code := cmd.ProcessState.ExitCode(); code != exitLimit ||
		!strings.Contains(errs.String(), "timed out after 200ms") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// The command ends at a signal even if the record store never answers.
func TestSignalEndsWhatCannotBeInterrupted(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}, 10), make(chan struct{})
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			_, _ = io.WriteString(w, "<ListBucketResult></ListBucketResult>")
			return
		}
		asked <- struct{}{}
		<-release
	}))
	t.Cleanup(bucket.Close)
	t.Cleanup(func() { close(release) })
	cmd, _, errs := asProgram(t, []string{
		"AUDIT_STORE=s3://bucket/records", "S3_ENDPOINT=" + bucket.URL, "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b",
		"AWS_REGION=us-east-1",
	}, "run", "-e", "1")
	<-asked // it writes the record, which no signal interrupts
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the code says it
	if code := cmd.ProcessState.ExitCode(); code != exitSignal+int(syscall.SIGTERM) {
		t.Errorf("exit %d: %s", code, errs)
	}
}
