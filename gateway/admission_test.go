package gateway_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/policy/scan"
)

// dear is code that a gateway never scans itself: a syntax check needs esbuild, and TypeScript always does.
const dear = `{"code":"const n: number = 1","language":"typescript"}`

// slowReader scans code with the word "flood" until it is released or the caller hangs up.
type slowReader struct {
	*scan.Scanner
	begun, ended chan struct{}
	goOn         chan struct{}
	at, atMost   atomic.Int64
}

func newSlowReader() *slowReader {
	return &slowReader{
		scan.New(), make(chan struct{}, 100), make(chan struct{}, 100), make(chan struct{}), atomic.Int64{}, atomic.Int64{},
	}
}

func (r *slowReader) Scan(ctx context.Context, t scan.Input) (scan.Result, error) {
	if strings.Contains(t.Code, "flood") {
		n := r.at.Add(1)
		for most := r.atMost.Load(); n > most && !r.atMost.CompareAndSwap(most, n); most = r.atMost.Load() {
		}
		r.begun <- struct{}{}
		select {
		case <-r.goOn:
		case <-ctx.Done():
		}
		r.at.Add(-1)
		r.ended <- struct{}{}
		if ctx.Err() != nil {
			return scan.Result{}, ctx.Err()
		}
	}
	return r.Scanner.Scan(ctx, t)
}

const floodCode = `{"code":"const flood: number = 1","language":"typescript"}`

// However much code of one caller waits for its scan, the code of another tenant, or of another caller of the same
// tenant, is scanned at once.
func TestScansTakeTurns(t *testing.T) {
	t.Parallel()
	places, more := gateway.ScanPlaces(), 20
	reader := newSlowReader()
	s := kept(t, options{auth: tokens(t), reader: reader})
	flood := tenantToken(t, "a", "flood", "execute functions")
	var all sync.WaitGroup
	for range places + more {
		all.Go(func() { want(t, s.do(t, "POST", "/api/analyze", floodCode, flood), 200) })
	}
	for range places {
		<-reader.begun
	}
	for name, token := range map[string]string{
		"another tenant": tenantToken(t, "b", "quiet", "execute functions"),
		"another caller": tenantToken(t, "c", "flood", "execute functions"),
	} {
		for path, body := range map[string]string{
			"/api/analyze": dear, "/api/execute": dear, "/api/execute/stream": code("2"),
		} {
			if a := s.do(t, "POST", path, body, token); a.StatusCode != 200 {
				t.Errorf("%s at %s: %d %s", name, path, a.StatusCode, a.body)
			}
		}
		if a := s.do(t, "PUT", "/api/functions/f"+name[8:9], code("4"), token); a.StatusCode != 201 {
			t.Errorf("%s saves a function: %d %s", name, a.StatusCode, a.body)
		}
	}
	close(reader.goOn)
	all.Wait()
	if most := reader.atMost.Load(); most > int64(places) {
		t.Errorf("%d texts of one caller were read at once", most)
	}
}

// A caller that hangs up stops its scan, and its waiting requests are never scanned.
func TestHangUpStopsScan(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/api/analyze", "/api/execute", "/api/execute/stream"} {
		reader := newSlowReader()
		s := kept(t, options{reader: reader})
		var all sync.WaitGroup
		var open []net.Conn
		for range gateway.ScanPlaces() + 5 {
			conn, err := net.Dial("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, conn)
			request, err := http.NewRequest("POST", "http://"+s.addr+path, strings.NewReader(floodCode))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			all.Go(func() {
				if err := request.Write(conn); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for range gateway.ScanPlaces() {
			<-reader.begun
		}
		for _, conn := range open {
			_ = conn.Close()
		}
		for range gateway.ScanPlaces() {
			<-reader.ended
		}
		// A request that arrives now is served, so no request waits any more.
		want(t, s.do(t, "POST", "/api/analyze", dear), 200)
		// A scan that began before its hang-up was noticed ends as well.
		for reader.at.Load() != 0 {
			<-reader.ended
		}
	}
}

// brokenReader fails to scan anything.
type brokenReader struct{}

func (brokenReader) Scan(context.Context, scan.Input) (scan.Result, error) {
	return scan.Result{}, errors.New("/usr/bin/airlock: no such file")
}

// Code that could not be scanned does not run, and callers do not see the reason. Cheap code is scanned all the same.
func TestWithoutScanner(t *testing.T) {
	t.Parallel()
	s := kept(t, options{reader: brokenReader{}})
	for _, endpoint := range []struct{ method, path, body string }{
		{"POST", "/api/analyze", dear}, {"POST", "/api/execute", dear}, {"PUT", "/api/functions/f", code("1")},
		{"POST", "/api/analyze", code("1")},
	} {
		a := s.do(t, endpoint.method, endpoint.path, endpoint.body)
		want(t, a, 503, "cannot be analysed")
		if strings.Contains(string(a.body), "airlock:") || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %s %v", endpoint.path, a.body, a.Header)
		}
	}
	want(t, s.do(t, "POST", "/api/execute", code("1")), 200)
}
