package main

import (
	"context"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
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
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/sqsqueue"
	"github.com/airlock-run/airlock/policy/outbound"
	"github.com/airlock-run/airlock/sandbox"
)

// clients are all HTTP clients of the program, by the folder that has limits for them: what each does with a server. A
// folder with limits that is not here fails TestEveryClientIsBounded.
var clients = map[string][]struct {
	name string
	most int64 // bytes that a server may get rid of, retries included
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

// refusing takes an answer and keeps nothing.
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
	return inSandbox(ctx, t, "await (await fetch("+strconv.Quote(url)+")).text()", sandbox.Tool{})
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

// hostile are servers that answer as nobody should. Each gets a connection on which a request was begun.
var hostile = map[string]func(conn io.Writer) error{
	"endless text": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\"", "xxxxxxxx")
	},
	"endless list": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"keys\":[", "{},")
	},
	"endless failure": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 418 I\r\nContent-Type: application/xml\r\n\r\n<a>", "<b/>")
	},
	"endless events": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", "data: {}\n\n")
	},
	"endless frames": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.amazon.eventstream\r\n\r\n",
			"\x00\x00\x00\x10\x00\x00\x00\x00")
	},
	"huge": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", "xxxxxxxx")
	},
	"endless headers": func(w io.Writer) error { return pour(w, "HTTP/1.1 200 OK\r\n", "X-A: b\r\n") },
	"garbage": func(w io.Writer) error {
		_, err := w.Write([]byte("\x00\xff\x16\x03\x01 SSH-2.0\r\n\r\n\r\n"))
		return err
	},
	"drip": func(w io.Writer) error {
		_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n")
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ; err == nil; <-tick.C {
			_, err = io.WriteString(w, " ")
		}
		return err
	},
}

func pour(w io.Writer, head, each string) error {
	_, err := io.WriteString(w, head)
	for block := strings.Repeat(each, 8<<10); err == nil; {
		_, err = io.WriteString(w, block)
	}
	return err
}

type countingWriter struct {
	io.Writer
	n *atomic.Int64
}

func (c countingWriter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n.Add(int64(n))
	return n, err
}

// serveHostile listens, and returns how much it got rid of.
func serveHostile(t *testing.T, answer func(io.Writer) error) (string, *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	written := &atomic.Int64{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if tcp, ok := conn.(*net.TCPConn); ok {
					_ = tcp.SetWriteBuffer(64 << 10) // what it holds counts as read
				}
				if _, err := conn.Read(make([]byte, 64<<10)); err == nil {
					_ = answer(countingWriter{conn, written}) // it ends when the client has enough
				}
			}()
		}
	}()
	return "http://" + l.Addr().String(), written
}

// TestClientsMeetHostileServers: whatever a server answers, each client ends by itself with an error, and reads no more
// than its bound.
func TestClientsMeetHostileServers(t *testing.T) {
	slack := int64(256<<10) + receiveBuffer() // what the sockets hold of the server, and of the client
	for _, folder := range slices.Sorted(maps.Keys(clients)) {
		for _, c := range clients[folder] {
			for _, kind := range slices.Sorted(maps.Keys(hostile)) {
				t.Run(c.name+"/"+kind, func(t *testing.T) {
					// The deadline is the caller's. Clients with a shorter deadline end before it.
					ctx, cancel := context.WithTimeout(t.Context(), patienceWith(kind))
					defer cancel()
					url, written := serveHostile(t, hostile[kind])
					began := time.Now()
					if err := c.call(ctx, t, url); err == nil {
						t.Error("the answer was taken")
					}
					if took := time.Since(began); took > time.Minute {
						t.Errorf("took %v", took)
					}
					if n := written.Load(); n > c.most+slack {
						t.Errorf("%d bytes were read; want at most %d", n, c.most)
					}
				})
			}
		}
	}
}

// receiveBuffer returns how many bytes this machine lets a socket hold that its program has not read.
func receiveBuffer() int64 {
	var least, usual, most int64
	limits, err := os.ReadFile("/proc/sys/net/ipv4/tcp_rmem")
	if err == nil {
		_, err = fmt.Sscan(string(limits), &least, &usual, &most)
	}
	if err != nil {
		return 48 << 20
	}
	return most
}

func patienceWith(kind string) time.Duration {
	if kind == "drip" {
		return time.Second
	}
	return 2 * time.Minute
}

// makers make clients. A file that uses one must be listed with the reason why it may.
var makers = map[string][]string{
	"net/http":   {"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
	"net":        {"Dialer", "Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix"},
	"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},

	"github.com/aws/aws-sdk-go-v2/config": {"LoadDefaultConfig"},
	"github.com/redis/go-redis/v9": {"NewClient", "NewClusterClient",
		"NewUniversalClient", "NewFailoverClient", "NewRing"},
	"github.com/jackc/pgx/v5": {"Connect", "ConnectConfig",
		"ConnectWithOptions"},
	"github.com/jackc/pgx/v5/pgconn": {"Connect", "ConnectConfig",
		"ConnectWithOptions"},
	"github.com/jackc/pgx/v5/pgxpool":                                   {"New", "NewWithConfig"},
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp":   {"New", "NewClient"},
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp": {"New"},
	"github.com/MicahParks/jwkset": {"NewDefaultHTTPClient",
		"NewDefaultHTTPClientCtx", "NewHTTPClient", "NewStorageFromHTTP"},
	"github.com/MicahParks/keyfunc/v3": {"NewDefault", "NewDefaultCtx",
		"NewDefaultOverrideCtx"},
	"github.com/modelcontextprotocol/go-sdk/mcp": {"StreamableClientTransport",
		"SSEClientTransport", "CommandTransport"},
	"github.com/airlock-run/airlock/policy/outbound": {"Limits"},
}

// mayMake says which files may use a maker, and why that is no hole.
var mayMake = map[string]string{
	"policy/outbound/transport.go":          "it bounds them",
	"policy/address/dial.go":                "it checks addresses",
	"policy/address/addresstest/names.go":   "a name server of tests",
	"infra/awsconfig/awsconfig.go":          "bounded by Shape and Bound",
	"gateway/wiring/limits.go":              "its connections are bounded",
	"gateway/wiring/telemetry.go":           "by CollectorClient",
	"gateway/cli/mcp.go":                    "over outbound",
	"infra/mcptools/connect.go":             "over outbound",
	"infra/state/pgstate/pool.go":           "bounded by bound",
	"infra/state/pgstate/store.go":          "bounded by bound",
	"infra/state/pgstate/pgtest/server.go":  "a server of tests",
	"infra/state/pgstate/pgtest/bouncer.go": "a server of tests",
	"infra/s3objects/s3test/server.go":      "a server of tests",
	"sandbox/peers/http.go":                 "a program that measures",
}

// TestEveryClientIsBounded: nothing in the program makes a client, a transport or a connection besides the packages
// that bound them, and every folder that has limits is among the clients that meet hostile servers.
func TestEveryClientIsBounded(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	folders := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		for _, made := range madeIn(t, path) {
			switch _, may := mayMake[name]; {
			case made == "outbound.Limits":
				folders[filepath.ToSlash(filepath.Dir(name))] = true
			case !may:
				t.Errorf("%s uses %s; build the client from policy/outbound", name, made)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(folders)), slices.Sorted(maps.Keys(clients)); !slices.Equal(got, want) {
		t.Errorf("clients are built in %v, and meet hostile servers in %v", got, want)
	}
}

// madeIn returns the makers that a file uses: values, and calls. Types of fields, parameters and assertions are none.
func madeIn(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // of the imports
	for _, i := range file.Imports {
		imported, _ := strconv.Unquote(i.Path.Value)
		if makers[imported] == nil {
			continue
		}
		name := imported[strings.LastIndexByte(imported, '/')+1:]
		if strings.HasPrefix(name, "v") && len(name) == 2 {
			name = map[string]string{"github.com/redis/go-redis/v9": "redis",
				"github.com/MicahParks/keyfunc/v3": "keyfunc", "github.com/jackc/pgx/v5": "pgx"}[imported]
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = imported
	}
	var made []string
	found := func(e ast.Expr) {
		if s, ok := e.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(makers[names[x.Name]], s.Sel.Name) {
				made = append(made, x.Name+"."+s.Sel.Name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			found(n.Type)
		case *ast.CallExpr:
			found(n.Fun)
			if len(n.Args) > 0 {
				for _, a := range n.Args { // new(http.Client), and DefaultClient handed on
					found(a)
				}
			}
		case *ast.ValueSpec:
			found(n.Type) // var c http.Client
			for _, v := range n.Values {
				found(v)
			}
		case *ast.AssignStmt:
			for _, v := range n.Rhs {
				found(v)
			}
		case *ast.KeyValueExpr:
			found(n.Value)
		case *ast.ReturnStmt:
			for _, v := range n.Results {
				found(v)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.SelectorExpr); ok { // http.DefaultClient.Do
				found(x)
			}
		}
		return true
	})
	return made
}

// unclosed is a writer whose Close does nothing.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
