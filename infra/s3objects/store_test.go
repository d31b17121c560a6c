package s3objects_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
)

var server *s3test.Server

func TestMain(m *testing.M) {
	s3test.SetEnvironment()
	server = s3test.MustStart()
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

func open(t *testing.T) (*s3objects.Store, string) {
	t.Helper()
	bucket := server.Bucket(t)
	s, err := s3objects.Open(t.Context(), "s3://"+bucket+"/below", s3objects.Access{Endpoint: server.Endpoint})
	if err != nil {
		t.Fatal(err)
	}
	return s, bucket
}

// Objects that are created and deleted concurrently are never partial, and a conflicting request to S3 causes no error.
func TestComeAndGo(t *testing.T) {
	s, _ := open(t)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 60 {
				key := fmt.Sprintf("a/b/c/%d-%d", n, i)
				if _, err := s.Create(t.Context(), key, []byte(key)); err != nil {
					t.Error(err)
				}
				if body, _, err := s.Get(t.Context(), key, 100); err != nil || string(body) != key {
					t.Errorf("%q %v", body, err)
				}
				if err := s.Delete(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if keys, err := s.List(t.Context(), "a/", "", 10); err != nil || len(keys) != 0 {
		t.Errorf("%v %v", keys, err)
	}
}

// If many create an object with different content, one succeeds; with the same content, all do.
func TestCreateOnce(t *testing.T) {
	s, _ := open(t)
	for same, want := range map[bool]int{true: 12, false: 1} {
		var mu sync.Mutex
		made := 0
		var all sync.WaitGroup
		for n := range 12 {
			all.Go(func() {
				body := "the same"
				if !same {
					body = fmt.Sprint(n)
				}
				_, err := s.Create(t.Context(), fmt.Sprint(same), []byte(body))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					made++
				} else if !errors.Is(err, s3objects.ErrChanged) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if made != want {
			t.Errorf("%d made it, want %d", made, want)
		}
	}
}

// The refusal is lost if a server refuses an object before it has read it and hangs up. The store then reads what is
// there.
func TestRefusalLost(t *testing.T) {
	bucket := server.Bucket(t)
	real, err := url.Parse(server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var hangUp atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangUp.Load() && r.Method == http.MethodPut {
			panic(http.ErrAbortHandler)
		}
		(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(real)
			p.Out.Host = p.In.Host // as it was signed
		}}).ServeHTTP(w, r)
	}))
	defer proxy.Close()
	direct, err := s3objects.Open(t.Context(), "s3://"+bucket, s3objects.Access{Endpoint: server.Endpoint})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := direct.Create(t.Context(), "a", []byte("one")); err != nil {
		t.Fatal(err)
	}
	hangUp.Store(true)
	s, err := s3objects.Open(t.Context(), "s3://"+bucket, s3objects.Access{Endpoint: proxy.URL, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key, body string
		ok        bool
	}{{"a", "one", true}, {"a", "two", false}, {"b", "one", false}} {
		if _, err := s.Create(t.Context(), c.key, []byte(c.body)); (err == nil) != c.ok {
			t.Errorf("%s %s: %v", c.key, c.body, err)
		}
	}
}
