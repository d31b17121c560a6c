package main

import (
	"context"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/callbacks"
	"github.com/airlock-run/airlock/gateway/cli"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	client "github.com/airlock-run/airlock/gateway/client/go"
	"github.com/airlock-run/airlock/gateway/console/bundle/registry"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/infra/awsconfig"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/infra/packages"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/alarms"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/sqsqueue"
	"github.com/airlock-run/airlock/policy/outbound"
	"github.com/airlock-run/airlock/sandbox"
)

// clients are all HTTP clients of the program, by the folder that has limits for them: what each does with a server. A
// folder with limits that is not here fails TestEveryClientIsBounded.
var clients = map[string][]struct {
	name string
	most int64 // bytes that a server may send, retries included
	call func(ctx context.Context, t *testing.T, url string) error
}{
	"functions/events": {{"front", 210 << 20, callFront}},
	"gateway/authn":    {{"keys", 4 << 20, callKeys}, {"discovery", 4 << 20, callDiscovery}},
	"gateway/callbacks": {{"callback", 2 << 20, func(ctx context.Context, _ *testing.T, url string) error {
		s := callbacks.NewSender([]string{"127.0.0.1"}, time.Now)
		defer s.Close()
		r := s.Send(ctx, execution.Job{ID: "exec_1", Status: execution.Completed, Result: json.RawMessage("{}"),
			Callback: &execution.Callback{URL: url, Secret: callbacks.NewSecret()}})
		return errors.New(r.Problem)
	}}},
	"gateway/client/go": {{"client", 70 << 20, func(ctx context.Context, t *testing.T, url string) error {
		c, err := client.New(client.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Execute(ctx, execution.Request{Code: "1"})
		return err
	}}},
	"gateway/cli":    {{"agent's proxy", 70 << 20, callProxy}},
	"gateway/wiring": {{"collector", 4 << 20, callCollector}},
	"gateway/console/bundle/registry": {{"registry", 20 << 20,
		func(ctx context.Context, t *testing.T, url string) error {
			_, err := registry.Source{Cache: t.TempDir(), URL: url}.Fetch(ctx, []registry.Package{{Name: "a", Version: "1.0.0"}})
			return err
		}}},
	"infra/awsconfig": {{"container", 4 << 20, callContainer}, {"metadata", 12 << 20, callMetadata},
		{"roles", 4 << 20, callRoles}, {"sign-on", 4 << 20, callSignOn}},
	"infra/invoke/lambdainvoke": {{"invoke", 50 << 20, callLambda(false)}, {"buffered", 50 << 20, callLambda(true)}},
	"infra/mcptools":            {{"catalogue", 12 << 20, callCatalogue}},
	"infra/packages": {{"registry", 220 << 20, func(ctx context.Context, t *testing.T, url string) error {
		store, err := packages.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Add(ctx, &packages.Registry{URL: url}, []string{"a@1"})
		return err
	}}},
	"infra/s3objects":         {{"object", 220 << 20, callS3(false)}, {"list", 40 << 20, callS3(true)}},
	"infra/state/alarms":      {{"alarm", 4 << 20, callAlarms}},
	"infra/state/dynamostate": {{"table", 220 << 20, callDynamo}},
	"infra/state/sqsqueue":    {{"queue", 40 << 20, callQueue}},
	"sandbox/internal/egress": {{"fetch", 4 << 20, callFetch}, {"tool", 4 << 20, callTool}},
}

func callFront(ctx context.Context, t *testing.T, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &refusing{header: http.Header{}}
	func() {
		defer func() { _ = recover() }() // the proxy aborts its handler when an answer breaks off
		events.Front(u).ServeHTTP(w, r)
		if w.status < 500 && w.size == 0 {
			w.status = 599
		}
	}()
	return fmt.Errorf("status %d", w.status)
}

// refusing accepts an answer and keeps nothing.
type refusing struct {
	header http.Header
	status int
	size   int64
}

func (w *refusing) Header() http.Header { return w.header }
func (w *refusing) WriteHeader(s int)   { w.status = s }
func (w *refusing) Flush()              {}
func (w *refusing) Write(b []byte) (int, error) {
	w.size += int64(len(b))
	return len(b), nil
}

func callKeys(ctx context.Context, _ *testing.T, url string) error {
	return newProvider(ctx, authn.ProviderConfig{KeysURL: url})
}

func callDiscovery(ctx context.Context, _ *testing.T, url string) error {
	return newProvider(ctx, authn.ProviderConfig{Issuer: url})
}

// newProvider returns what is logged when the keys cannot be fetched.
func newProvider(ctx context.Context, cfg authn.ProviderConfig) error {
	var said strings.Builder
	cfg.Now, cfg.Log = time.Now, slog.New(slog.NewTextHandler(&said, nil))
	if _, err := authn.NewProvider(ctx, cfg); err != nil {
		return err
	}
	if said.Len() == 0 && ctx.Err() == nil {
		return nil
	}
	return errors.New("refused: " + said.String())
}

func callCollector(ctx context.Context, t *testing.T, url string) error {
	settings := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url}
	c, err := wiring.CollectorClient(func(name string) string { return settings[name] }, "TRACES")
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/traces", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	if res.StatusCode >= 400 {
		err = errors.Join(err, errors.New(res.Status))
	}
	return errors.Join(err, res.Body.Close())
}

func callProxy(ctx context.Context, _ *testing.T, url string) error {
	in, _ := io.Pipe()
	con := terminal.Console{Stdin: in, Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	return cli.ProxyMCP(ctx, con, url, "", mcp.Stdio(in, unclosed{io.Discard}))
}

func callLambda(buffered bool) func(context.Context, *testing.T, string) error {
	return func(ctx context.Context, t *testing.T, url string) error {
		c, err := lambdainvoke.New(ctx, lambdainvoke.Config{Function: "f", Endpoint: url, Region: "us-east-1",
			Buffered: buffered, Credentials: nobody{}})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := c.Invoke(ctx, execution.Invocation{ID: "exec_1", Request: execution.Request{Code: "1"}}, nil)
		if err == nil && reply.Recorded {
			return nil
		}
		return errors.Join(errors.New("no reply"), err)
	}
}

type nobody struct{}

func (nobody) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
}

func callS3(list bool) func(context.Context, *testing.T, string) error {
	return func(ctx context.Context, t *testing.T, url string) error {
		t.Setenv("AWS_ACCESS_KEY_ID", "a")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
		s, err := s3objects.Open(ctx, "s3://bucket/x",
			s3objects.Access{Endpoint: url, Region: "us-east-1", Attempts: 2, AttemptTimeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if list {
			_, err = s.List(ctx, "", "", 10)
		} else {
			_, _, err = s.Get(ctx, "key", 100<<20)
		}
		return err
	}
}

func callDynamo(ctx context.Context, t *testing.T, url string) error {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		t.Setenv(name, "a")
	}
	s, err := dynamostate.Open(ctx, "dynamodb://table?contents=s3://bucket/x", dynamostate.Config{
		Access: dynamostate.Access{Endpoint: url, Attempts: 2, Objects: s3objects.Access{Endpoint: url, Region: "a"}},
	})
	if err != nil {
		return err
	}
	_, err = s.Function(ctx, "t", "f")
	return errors.Join(err, s.Close())
}

func callQueue(ctx context.Context, t *testing.T, url string) error {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		t.Setenv(name, "a")
	}
	q, err := sqsqueue.Open(ctx, url+"/1/queue", sqsqueue.Config{Endpoint: url, Attempts: 2})
	if err != nil {
		return err
	}
	return q.Send(ctx, "t", "exec_0000000001", 0)
}

func callAlarms(ctx context.Context, t *testing.T, url string) error {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		t.Setenv(name, "a")
	}
	a, err := alarms.Open(ctx, "scheduler://due?role=arn:aws:iam::123456789012:role/alarms&"+
		"function=arn:aws:lambda:eu-central-1:123456789012:function:jobs", alarms.Config{Endpoint: url, Attempts: 2})
	if err != nil {
		return err
	}
	return a.Set(ctx, time.Now())
}

// callContainer looks up credentials as in a container.
func callContainer(ctx context.Context, t *testing.T, url string) error {
	return retrieve(ctx, t, map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": url + "/credentials"})
}

// callMetadata looks up credentials as on a virtual machine.
func callMetadata(ctx context.Context, t *testing.T, url string) error {
	return retrieve(ctx, t, map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": url})
}

// callRoles exchanges a token for credentials, as in a cluster.
func callRoles(ctx context.Context, t *testing.T, url string) error {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("t"), 0o600); err != nil {
		t.Fatal(err)
	}
	return retrieve(ctx, t, map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ENDPOINT_URL_STS": url,
		"AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/a"})
}

// callSignOn looks up credentials as a developer who is signed in.
func callSignOn(ctx context.Context, t *testing.T, url string) error {
	home := t.TempDir()
	cache := filepath.Join(home, ".aws", "sso", "cache")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(home, ".aws", "config"): "[default]\nsso_start_url = s\nsso_region = us-east-1\n" +
			"sso_account_id = 123456789012\nsso_role_name = a\n",
		filepath.Join(cache, fmt.Sprintf("%x.json", sha1.Sum([]byte("s")))): `{"accessToken":"a",` +
			`"expiresAt":"2100-01-01T00:00:00Z"}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return retrieve(ctx, t, map[string]string{"HOME": home, "AWS_ENDPOINT_URL_SSO": url})
}

// retrieve looks up credentials in an environment.
func retrieve(ctx context.Context, t *testing.T, environment map[string]string) error {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_REGION", "us-east-1")
	for name, value := range environment {
		t.Setenv(name, value)
	}
	loaded, err := awsconfig.Load(ctx, outbound.Limits{Body: 1, Total: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	_, err = loaded.Credentials.Retrieve(ctx)
	return err
}

func callCatalogue(ctx context.Context, t *testing.T, url string) error {
	servers, err := mcptools.Parse([]byte(`[{"namespace":"a","url":"` + url + `"}]`))
	if err != nil {
		t.Fatal(err)
	}
	network := mcptools.Limits().Transport(outbound.Options{})
	c := mcptools.Open(ctx, mcptools.New(servers, func(string) string { return "" }), network,
		slog.New(slog.DiscardHandler))
	defer c.Close()
	if n := len(c.Tools()); n > 0 {
		return nil
	}
	return errors.New("no tools")
}

func callFetch(ctx context.Context, t *testing.T, url string) error {
	return inSandbox(ctx, t, "const r = await fetch("+strconv.Quote(url)+
		"); await r.text(); if (!r.ok) throw r.status", sandbox.Tool{})
}

func callTool(ctx context.Context, t *testing.T, url string) error {
	return inSandbox(ctx, t, "await a.b()", sandbox.Tool{Name: "a:b", URL: url})
}

func inSandbox(ctx context.Context, t *testing.T, code string, tool sandbox.Tool) error {
	e, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache"),
		SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	g := sandbox.Grants{Limits: sandbox.Limits{FetchBytes: 1 << 20, Wall: 3 * time.Second},
		Network: sandbox.Network{Mode: sandbox.NetworkPublic, OpenedHosts: []string{"127.0.0.1"}}}
	if tool.Name != "" {
		g.Tools = []sandbox.Tool{tool}
	}
	r, err := e.Run(ctx, sandbox.Script{Code: code}, g)
	if err != nil {
		return err
	}
	if r.Error == "" && r.Limit == "" {
		return nil
	}
	return errors.New(r.Error + string(r.Limit))
}

// unclosed is a writer whose Close does nothing.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
