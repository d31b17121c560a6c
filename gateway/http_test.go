package gateway_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/policy/audit"
)

func TestBadInput(t *testing.T) {
	t.Parallel()
	s := serve(t, options{config: gateway.Config{MaxBodyBytes: 5000}})
	deep := `{"code":"1","input":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(bytes.Repeat([]byte(" "), 10<<20)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, body string
		headers    []string
		status     int
		field      string
		says       string
	}{
		{"no code", `{}`, nil, 400, "code", "code: is required"},
		{"unknown field", `{"code":"1","nope":1}`, nil, 400, "nope", "accepted here"},
		{"unknown tier", `{"code":"1","policy":"lax"}`, nil, 400, "policy", "strict"},
		{"v8", `{"code":"1","engine":"v8"}`, nil, 400, "engine", "use quickjs"},
		{"broken JSON", `{"code":`, nil, 400, "", "not valid JSON"},
		{"broken UTF-8", "{\"code\":\"\xff\"}", nil, 400, "", "UTF-8"},
		{"NUL", `{"code":"\u0000"}`, nil, 400, "code", "NUL"},
		{"duplicate key", `{"code":"1","code":"2"}`, nil, 400, "code", "more than once"},
		{"deep JSON", deep, nil, 400, "input", "nested more than 512 levels deep: input[0][0]"},
		{"empty body", " ", nil, 400, "", "not valid JSON"},
		{"too large", `{"code":"` + strings.Repeat("x", 5000) + `"}`, nil, 413, "", "5000 bytes"},
		{"form", `code=1`, []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "", "application/json"},
		{"multipart", `x`, []string{"Content-Type: multipart/form-data; boundary=x"}, 415, "", "application/json"},
		{"text", `{"code":"1"}`, []string{"Content-Type: text/plain"}, 415, "", "application/json"},
		{"no type", `{"code":"1"}`, []string{"Content-Type: "}, 415, "", "application/json"},
		{"latin-1", `{"code":"1"}`, []string{"Content-Type: application/json; charset=iso-8859-1"}, 415, "", "utf-8"},
		{"gzip", bomb.String(), []string{"Content-Encoding: gzip"}, 413, "", ""},
		{"small gzip", "\x1f\x8b\x08", []string{"Content-Encoding: gzip"}, 415, "", "Content-Encoding"},
		{"two codings", `{"code":"1"}`, []string{"Content-Encoding: identity, br"}, 415, "", "Content-Encoding"},
	}
	for _, path := range []string{"/api/execute", "/api/analyze"} {
		for _, c := range cases {
			t.Run(path+" "+c.name, func(t *testing.T) {
				t.Parallel()
				headers := c.headers
				if len(headers) > 0 && strings.HasPrefix(headers[0], "Content-Type: ") {
					headers = append([]string{"Content-Type: "}, headers...)
				}
				a := s.do(t, "POST", path, c.body, headers...)
				detail, _ := a.problem(t, c.status)
				if field, _ := a.json(t)["field"].(string); field != c.field || !strings.Contains(detail, c.says) {
					t.Errorf("field %q, detail %q", field, detail)
				}
			})
		}
	}
	if a := s.do(
		t, "POST", "/api/execute", code("1"), "Content-Type: ", "Content-Type: Application/JSON; Charset=UTF-8",
	); a.StatusCode != 200 {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
}

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	for _, path := range []string{
		"/nothing", "/api", "/api/nothing", "/API/execute", "/../etc/passwd", "/api/result", "/%00", "/api/result/a/b",
	} {
		s.do(t, "GET", path, "").problem(t, 404)
	}
	for path, allow := range map[string]string{"/api/execute": "POST", "/api/stats": "GET", "/healthz": "GET"} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "TRACE"} {
			if method == allow {
				continue
			}
			a := s.do(t, method, path, "")
			a.problem(t, 405)
			if !strings.Contains(a.Header.Get("Allow"), allow) {
				t.Errorf("%s %s: Allow %q", method, path, a.Header.Get("Allow"))
			}
		}
	}
	if a := s.do(t, "OPTIONS", "/api/execute", ""); a.StatusCode != 204 || a.Header.Get("Allow") != "POST, OPTIONS" ||
		a.Header.Get("X-Request-Id") == "" {
		t.Errorf("OPTIONS: %d %v", a.StatusCode, a.Header)
	}
	s.do(t, "OPTIONS", "/nothing", "").problem(t, 404)
	s.do(t, "BREW", "/api/execute", "").problem(t, 501)
	if a := s.do(t, "HEAD", "/healthz", ""); a.StatusCode != 200 || len(a.body) != 0 {
		t.Errorf("HEAD: %d %q", a.StatusCode, a.body)
	}
}

// ran records an execution that completed just now, as a function would.
func (s *served) ran(t *testing.T, r audit.Record) {
	t.Helper()
	r.ID, r.Time, r.Status, r.Caller.Tenant = "exec_"+ulid.Make().String(), time.Now(), "completed", "default"
	if err := s.records.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	s.ran(t, audit.Record{DurationMs: 3000, Ending: audit.Ending{Usage: audit.Usage{MemoryBytes: 3 << 20, QueueMs: 7}}})
	s.do(t, "POST", "/api/execute", code("eval('1')"))
	v := s.do(t, "GET", "/api/metrics/executions?window=15m", "").json(t)
	has(t, v, map[string]any{
		"count": 2.0, "successRate": 0.5, "durationMs.max": 3000.0, "queueMs.p99": 7.0, "memoryHistogram.2.count": 1.0,
		"memoryHistogram.#": 10.0, "windowMs": 900000.0, "errorCategories.blocked": 1.0,
	})
	for _, bad := range []string{"window=x", "window=0s", "window=32d", "window=-1h", "wndow=1h"} {
		s.do(t, "GET", "/api/metrics/executions?"+bad, "").problem(t, 400)
	}
	a := s.do(t, "GET", "/metrics", "")
	if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain; version=0.0.4") ||
		!strings.Contains(string(a.body), `airlock_executions_total{status="blocked"} 1`) {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
}

func TestSeries(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	for range 2 {
		s.do(t, "POST", "/api/execute", code("eval('1')"))
	}
	s.ran(t, audit.Record{})
	v := s.do(t, "GET", "/api/metrics/series?window=2h&step=5m", "").json(t)
	items := v["items"].([]any)
	if len(items) != 24 || v["complete"] != true || v["stepMs"] != 300000.0 {
		t.Fatalf("%d items: %v", len(items), v)
	}
	sums := map[string]float64{}
	for _, i := range items {
		for _, name := range []string{"executions", "blocked", "allowed", "flagged", "completed"} {
			sums[name] += i.(map[string]any)[name].(float64)
		}
	}
	wanted := map[string]float64{"executions": 3, "blocked": 2, "allowed": 1, "flagged": 2, "completed": 1}
	if diff := cmp.Diff(wanted, sums); diff != "" {
		t.Errorf("the sums of the series differ (-want +got):\n%s", diff)
	}
	has(t, v, map[string]any{
		"total.executions": 3.0, "total.bySeverity.critical": 2.0, "total.byCategory.code_injection": 2.0,
		"topTenants.#": 1.0, "topTenants.0.executions": 3.0, "topTenants.0.flagged": 2.0,
	})
	for window, points := range map[string]int{
		"": 60, "?window=1m": 60, "?window=7d": 56, "?window=31d&step=1d": 31, "?window=90s&step=1m": 2, "?window=1s": 1,
	} {
		if items := s.do(t, "GET", "/api/metrics/series"+window, "").json(t)["items"].([]any); len(items) != points {
			t.Errorf("%s: %d items, want %d", window, len(items), points)
		}
	}
	for _, bad := range []string{
		"window=32d", "step=0s", "step=1500ms", "step=x", "window=1d&step=1s", "step=-1m", "stp=1m",
		"tenant=" + strings.Repeat("t", 300),
	} {
		s.do(t, "GET", "/api/metrics/series?"+bad, "").problem(t, 400)
	}
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	for range 3 {
		s.do(t, "POST", "/api/execute", code("eval('1')"))
	}
	v := s.do(t, "GET", "/api/audit/security-summary", "").json(t)
	has(t, v, map[string]any{
		"records": 3.0, "complete": true, "blocked": 3.0, "bySeverity.critical": 3.0, "byCategory.code_injection": 3.0,
		"recentThreats.#": 3.0,
	})
	v = s.do(t, "GET", "/api/audit/stats?since=2020-01-01", "").json(t)
	if v["records"] != 3.0 || v["byStatus"].(map[string]any)["blocked"] != 3.0 ||
		v["byVia"].(map[string]any)["http"] != 3.0 {
		t.Errorf("%v", v)
	}
	if v := s.do(t, "GET", "/api/audit/stats?until=2020-01-01", "").json(t); v["records"] != 0.0 || v["newest"] != nil {
		t.Errorf("%v", v)
	}
	s.do(t, "GET", "/api/audit/stats?limit=1", "").problem(t, 400)
	s.do(t, "GET", "/api/audit/security-summary?since=x", "").problem(t, 400)
}

func TestAnalyze(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	v := s.do(t, "POST", "/api/analyze", code("eval('1')")).json(t)
	if v["decision"].(map[string]any)["allow"] != false || v["syntaxError"] != nil ||
		v["dangerAnalysis"].(map[string]any)["level"] != "critical" {
		t.Errorf("%v", v)
	}
	if v := s.do(t, "POST", "/api/analyze", code("1+1")).json(t); v["decision"].(map[string]any)["allow"] != true ||
		v["astTelemetry"] == nil {
		t.Errorf("%v", v)
	}
	if v := s.do(t, "POST", "/api/analyze",
		code("let x = ;\n")).json(t); v["syntaxError"].(map[string]any)["line"] != 1.0 {
		t.Errorf("%v", v)
	}
	// Only the engine, or a second parse, knows what is wrong here.
	if v := s.do(t, "POST", "/api/analyze", code("let a; let a;")).json(t); v["syntaxError"] == nil ||
		v["astTelemetry"].(map[string]any)["isValid"] != false {
		t.Errorf("%v", v)
	}
	if len(s.records.records) != 0 {
		t.Error("an analysis was recorded as an execution")
	}
}

func TestSystem(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	s.do(t, "POST", "/api/execute", code("1"))
	s.do(t, "POST", "/api/execute", code("eval('1')"))
	s.do(t, "GET", "/nothing", "")
	v := s.do(t, "GET", "/api/stats", "").json(t)
	has(t, v, map[string]any{
		"executions": 2.0, "byStatus.blocked": 1.0, "refused.not_found": 1.0, "results.count": 2.0,
	})
	has(t, s.do(t, "GET", "/api/engines", "").json(t), map[string]any{
		"items.#": 3.0, "items.0.name": "quickjs", "items.0.available": true, "items.0.executions": 2.0,
	})
	tiers := s.do(t, "GET", "/api/policies", "").json(t)
	if items := tiers["items"].([]any); len(items) != 4 || tiers["default"] != "standard" {
		t.Errorf("%v", tiers)
	}
	if v := s.do(t, "GET", "/readyz", "").json(t); v["status"] != "ready" {
		t.Errorf("%v", v)
	}
	stateful := kept(t, options{})
	if v := stateful.do(t, "GET", "/readyz", "").json(t); v["state"] != "ok" {
		t.Errorf("%v", v)
	}
	if _, code := serve(t, options{state: unready{stateful.state}}).do(t, "GET", "/readyz",
		"").problem(t, 503); code != "not_ready" {
		t.Error(code)
	}
	down := serve(t, options{ready: io.ErrUnexpectedEOF})
	down.do(t, "GET", "/readyz", "").problem(t, 503)
	if a := down.do(t, "GET", "/healthz", ""); a.StatusCode != 200 {
		t.Errorf("%d", a.StatusCode)
	}
}

// unready is a state that cannot be changed.
type unready struct{ gateway.State }

func (unready) Ready(context.Context) error { return io.ErrUnexpectedEOF }

var statusLine = regexp.MustCompile(`HTTP/1\.[01] [0-9]{3} `)

// exchange writes bytes to a socket and returns everything that the server sends until it closes.
func exchange(t *testing.T, addr, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(conn, request) }() // the server may refuse before it has read everything
	got, err := io.ReadAll(conn)
	if err != nil && len(got) == 0 {
		t.Fatal(err)
	}
	return string(got)
}

// A request that two parsers could read differently is refused, and the bytes after it on the connection are never read
// as another request.
func TestRawBytesRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, options{config: gateway.Config{ReadTimeout: time.Second, IdleTimeout: time.Second / 2}})
	const head = "POST /api/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	const body12 = `{"code":"1"}`
	const inner = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	cases := map[string]string{
		"length and coding":    head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		"coding and length":    head + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + inner,
		"two lengths":          head + "Content-Length: 12\r\nContent-Length: 0\r\n\r\n" + body12 + inner,
		"a list of lengths":    head + "Content-Length: 12, 0\r\n\r\n" + body12 + inner,
		"a negative length":    head + "Content-Length: -1\r\n\r\n" + inner,
		"a signed length":      head + "Content-Length: +12\r\n\r\n" + body12,
		"a hexadecimal length": head + "Content-Length: 0xc\r\n\r\n" + body12,
		"an endless length":    head + "Content-Length: 99999999999999999999\r\n\r\n" + body12,
		"an unknown coding":    head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + inner,
		"a coding in disguise": head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner,
		"identity":             head + "Transfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n" + inner,
		"two codings": head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" +
			inner,
		"space before the colon":  head + "Content-Length : 12\r\n\r\n" + body12,
		"a folded header":         head + "X-A: 1\r\n Content-Length: 12\r\nContent-Length: 0\r\n\r\n" + body12,
		"NUL in a name":           head + "X-\x00A: 1\r\nContent-Length: 12\r\n\r\n" + body12,
		"NUL in a value":          head + "X-A: a\x00b\r\nContent-Length: 12\r\n\r\n" + body12,
		"a bare CR in a value":    head + "X-A: a\rb\r\nContent-Length: 12\r\n\r\n" + body12,
		"a name with a space":     head + "X A: 1\r\nContent-Length: 12\r\n\r\n" + body12,
		"no name":                 head + ": 1\r\nContent-Length: 12\r\n\r\n" + body12,
		"no colon":                head + "nonsense\r\nContent-Length: 12\r\n\r\n" + body12,
		"a broken chunk size":     head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
		"a signed chunk size":     head + "Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
		"a huge chunk size":       head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}\r\n0\r\n\r\n",
		"a chunk without its end": head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}xx0\r\n\r\n",
		"two hosts": "POST /api/execute HTTP/1.1\r\nHost: localhost\r\nHost: " +
			"evil.example\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n" + body12,
		"no host": "POST /api/execute HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: " +
			"12\r\n\r\n" + body12,
		"an absolute foreign URL": "GET http://evil.example/api/stats HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"bare line feeds": "POST /api/execute HTTP/1.1\nHost: localhost\nContent-Type: " +
			"application/json\nContent-Length: 12\n\n" + body12,
		"one bare line feed": head + "X-A: 1\nContent-Length: 12\r\n\r\n" + body12,
		"chunked in HTTP/1.0": "POST /api/execute HTTP/1.0\r\nHost: localhost\r\nContent-Type: " +
			"application/json\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n" + body12 + "\r\n0\r\n\r\n",
		"not HTTP":           "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
		"HTTP/2's preface":   "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"an unknown version": "GET /api/stats HTTP/9.9\r\nHost: localhost\r\n\r\n",
		"many headers": "GET /api/stats HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat(
			"X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", 2000,
		) + "\r\n",
		"one long header": "GET /api/stats HTTP/1.1\r\nHost: localhost\r\nX-A: " + strings.Repeat("a", 1<<20) +
			"\r\n\r\n",
		"a long path":               "GET /" + strings.Repeat("a", 1<<16) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a body that never arrives": head + "Content-Length: 12\r\n\r\n{",
		"a head that never ends":    "GET /api/stats HTTP/1.1\r\nHost: localhost\r\nX-",
	}
	for name, request := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := exchange(t, s.addr, request)
			if len(statusLine.FindAllString(got, -1)) > 1 {
				t.Errorf("two answers:\n%s", got)
			}
			res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(got)), nil)
			if err != nil {
				t.Fatalf("%v\n%q", err, got)
			}
			defer res.Body.Close()
			if res.StatusCode < 400 || res.StatusCode > 499 {
				t.Errorf("status %d\n%s", res.StatusCode, got)
			}
			doc, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("Content-Type %q", res.Header.Get("Content-Type"))
			}
			checkProblem(t, doc, res.StatusCode)
		})
	}
}

func TestLengthRequired(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	const head = "POST /api/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
	for headers, want := range map[string]string{
		"": "411", "Content-Length: 0\r\n": "400", "Content-Length: 12\r\n": "200", "Transfer-Encoding: chunked\r\n": "200",
	} {
		body := code("1")
		switch want {
		case "411", "400":
			body = ""
		}
		if strings.HasPrefix(headers, "Transfer") {
			body = "5\r\n" + body[:5] + "\r\n7\r\n" + body[5:] + "\r\n0\r\n\r\n"
		}
		if got := exchange(t, s.addr, head+headers+"\r\n"+body); !strings.HasPrefix(got, "HTTP/1.1 "+want) {
			t.Errorf("%q: want %s, got\n%s", headers, want, got)
		}
	}
}

func TestExpectContinue(t *testing.T) {
	t.Parallel()
	s := serve(t, options{config: gateway.Config{MaxBodyBytes: 100}})
	const head = "POST /api/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: " +
		"100-continue\r\nConnection: close\r\n"
	if got := exchange(t, s.addr, head+"Content-Length: 12\r\n\r\n"+`{"code":"1"}`); !strings.HasPrefix(
		got, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK",
	) {
		t.Errorf("%s", got)
	}
	if got := exchange(t, s.addr, head+"Content-Length: 101\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 413 ") ||
		!strings.Contains(got, "problem+json") {
		t.Errorf("%s", got)
	}
}
