package s3records_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
)

// server is the S3 server of this test process, and endpoint where it listens. TestMain sets them; children get the
// endpoint by the place.
var (
	server   *s3test.Server
	endpoint string
)

func TestMain(m *testing.M) {
	s3test.SetEnvironment()
	if recordstest.IsChild() {
		recordstest.Main(m, suite())
	}
	server = s3test.MustStart()
	endpoint = server.Endpoint
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// client speaks to the server past the store.
func client(t *testing.T) *s3.Client { return server.Client(t) }

func newBucket(t *testing.T, with ...func(*s3.CreateBucketInput)) string {
	return server.Bucket(t, with...)
}

// patience bounds an attempt whose answer comes: only a hang exceeds it.
const patience = time.Minute

// faulty asks a Fault before each request and after each answer.
type faulty struct {
	fault recordstest.Fault
}

func (f faulty) Do(req *http.Request) (*http.Response, error) {
	if f.fault != nil {
		if err := f.fault(strings.ToLower(req.Method), req.URL.Path, int(req.ContentLength)); err != nil {
			return nil, err
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if f.fault != nil && err == nil {
		if fault := f.fault("answer", req.URL.Path, 0); fault != nil {
			return nil, errors.Join(fault, resp.Body.Close())
		}
	}
	return resp, err
}

func suite() recordstest.Suite {
	return recordstest.Suite{
		New: func(t *testing.T) string { return endpoint + "|" + newBucket(t) },
		Open: func(place string, fault recordstest.Fault) (recordstest.Store, error) {
			at, bucket, _ := strings.Cut(place, "|")
			return s3records.Open(context.Background(), s3records.Config{
				Bucket: bucket, Prefix: "audit/test", Endpoint: at, HTTP: faulty{fault}, AttemptTimeout: patience,
			})
		},
		Settled: uploaded, Lanes: 64,
	}
}

// uploaded waits until the server lists no unfinished upload. Unlike S3, it lists its own temporary files until it
// notices that their sender is dead.
func uploaded(t *testing.T, place string) {
	t.Helper()
	_, bucket, _ := strings.Cut(place, "|")
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		under := false
		pages := s3.NewListObjectsV2Paginator(client(t), &s3.ListObjectsV2Input{Bucket: &bucket})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range page.Contents {
				under = under || strings.Contains(*o.Key, ".sgwtmp.")
			}
		}
		if !under {
			return
		}
		select {
		case <-again.C:
		case <-t.Context().Done():
			t.Fatal("an upload never ended")
		}
	}
}

func TestConformance(t *testing.T) { recordstest.Run(t, suite()) }

// proxy damages the exchanges between the store and the server.
type proxy struct {
	*httptestServer
	mu   sync.Mutex
	plan func(req *http.Request, n int) damage
	n    int
	// ended is closed when the test ends.
	ended <-chan struct{}
}

// damage is the fault of one exchange.
type damage int

const (
	pass    damage = iota
	drop           // the connection is cut before the server receives anything
	reset          // the server carries it out; the answer is lost
	stall          // nothing comes back until the client gives up
	trickle        // the answer comes byte by byte
	busy           // 503 SlowDown
	skew           // 403 RequestTimeTooSkewed
	garbled        // the body arrives altered
	forbid         // 403 AccessDenied
)

type httptestServer struct {
	URL string
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{httptestServer: &httptestServer{}, ended: t.Context().Done()}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, r.In.Host
	}, FlushInterval: -1}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.n++
		what := pass
		if p.plan != nil {
			what = p.plan(r, p.n)
		}
		p.mu.Unlock()
		p.exchange(w, r, forward, what)
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.URL = "http://" + listener.Addr().String()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return p
}

func (p *proxy) set(plan func(req *http.Request, n int) damage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan, p.n = plan, 0
}

func (p *proxy) exchange(w http.ResponseWriter, r *http.Request, forward http.Handler, what damage) {
	switch what {
	case pass:
		forward.ServeHTTP(w, r)
	case drop:
		cut(w)
	case reset:
		forward.ServeHTTP(discard{}, r)
		cut(w)
	case stall:
		<-p.ended
	case trickle:
		forward.ServeHTTP(slow{w}, r)
	case busy:
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
	case skew:
		w.Header().Set("Content-Type", "application/xml")
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w,
			`<Error><Code>RequestTimeTooSkewed</Code><Message>The difference is too large.</Message></Error>`)
	case forbid:
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`)
	case garbled:
		r.Body = &flip{ReadCloser: r.Body}
		forward.ServeHTTP(w, r)
	}
}

// cut resets the connection.
func cut(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

type slow struct{ http.ResponseWriter }

func (s slow) Write(b []byte) (int, error) {
	for i := range b {
		if _, err := s.ResponseWriter.Write(b[i : i+1]); err != nil {
			return i, err
		}
		if f, ok := s.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
	}
	return len(b), nil
}

// flip alters the first body byte that is a letter of the JSON.
type flip struct {
	io.ReadCloser
	done bool
}

func (f *flip) Read(b []byte) (int, error) {
	n, err := f.ReadCloser.Read(b)
	if i := strings.Index(string(b[:n]), "quickjs"); i >= 0 && !f.done {
		b[i], f.done = 'Q', true
	}
	return n, err
}

func opened(t *testing.T, cfg s3records.Config) *s3records.Store {
	t.Helper()
	if cfg.Endpoint == "" {
		cfg.Endpoint = endpoint
	}
	if cfg.AttemptTimeout == 0 {
		cfg.AttemptTimeout = patience
	}
	if cfg.RetryEvery == 0 {
		cfg.RetryEvery = 20 * time.Millisecond
	}
	s, err := s3records.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func sound(t *testing.T, s *s3records.Store, records int64) {
	t.Helper()
	report, err := s.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Errorf("%s", p)
	}
	if report.Records != records {
		t.Errorf("%d records, want %d", report.Records, records)
	}
}
