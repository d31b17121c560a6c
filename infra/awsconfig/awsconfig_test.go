package awsconfig_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/smithy-go/logging"

	"github.com/airlock-run/airlock/infra/awsconfig"
	"github.com/airlock-run/airlock/policy/outbound"
)

// A look-up with the deployment's own certificates is bounded too, without a deadline of the caller: it waits a few
// seconds for a server that stalls, and reads an endless answer only up to the limit.
func TestLookupsAreBounded(t *testing.T) {
	silent := make(chan struct{})
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  error
	}{
		// The handler does not return when its client leaves: the end of its answer could arrive before the client has
		// closed.
		"silent": {func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			<-silent
		}, outbound.ErrTooSlow},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for _, err := w.Write([]byte(`{"Token":"`)); err == nil; {
				_, err = w.Write(make([]byte, 64<<10))
			}
		}, nil}, // the decoder's error comes first; the limit ends the reading after it
		"endless spaces": {func(w http.ResponseWriter, _ *http.Request) {
			spaces := make([]byte, 64<<10)
			for i := range spaces {
				spaces[i] = ' '
			}
			for _, err := w.Write(spaces); err == nil; {
				_, err = w.Write(spaces)
			}
		}, outbound.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewTLSServer(c.serve)
			defer server.Close()
			bundle := filepath.Join(t.TempDir(), "bundle")
			certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			if err := os.WriteFile(bundle, certificate, 0o600); err != nil {
				t.Fatal(err)
			}
			token := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(token, []byte("t"), 0o600); err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]string{"AWS_CA_BUNDLE": bundle, "HOME": t.TempDir(), "AWS_PROFILE": "",
				"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_REGION": "us-east-1",
				"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/a",
				"AWS_ENDPOINT_URL_STS": server.URL} {
				t.Setenv(name, value)
			}
			loaded, err := awsconfig.Load(t.Context(), outbound.Limits{Body: 1, Total: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			_, err = loaded.Credentials.Retrieve(t.Context())
			if name == "silent" {
				close(silent)
			}
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v; want %v", err, c.want)
			}
		})
	}
}

// The SDK's warnings, whose number a server decides, do not get between the lines of the log.
func TestWarningsAreNotWritten(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	stderr := os.Stderr
	os.Stderr = file
	loaded, err := awsconfig.Load(t.Context(), outbound.Limits{Body: 1, Total: time.Minute})
	os.Stderr = stderr
	if err != nil {
		t.Fatal(err)
	}
	loaded.Logger.Logf(logging.Warn, "a server's text")
	if written, err := os.ReadFile(file.Name()); err != nil || len(written) > 0 {
		t.Errorf("%q, %v", written, err)
	}
}
