package idempotency_test

import (
	"errors"
	"io"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/idempotency"
	"github.com/airlock-run/airlock/gateway/results"
)

// service counts how often its handler runs. The body "fail" fails.
type service struct {
	app  *fiber.App
	runs atomic.Int64
}

func serve(t *testing.T) *service {
	t.Helper()
	memory, err := results.NewOnce(10, 1<<20, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	keys := idempotency.New(idempotency.Config{Memory: memory, Target: "Acts-On", Now: time.Now,
		NewID: func() string { return "exec_1" }})
	s := &service{app: fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		if problem := (*api.Problem)(nil); errors.As(err, &problem) {
			return c.Status(problem.Status).SendString(problem.Code)
		}
		return c.Status(400).SendString(err.Error())
	}})}
	s.app.Post("/*", func(c *fiber.Ctx) error {
		api.SetCaller(c, authn.Identity{Tenant: "t", Subject: c.Get("Caller", "ann")})
		return c.Next()
	}, keys.Once(func(c *fiber.Ctx) error {
		n := s.runs.Add(1)
		if string(c.Body()) == "fail" {
			return &api.Problem{Status: 503, Code: "unavailable"}
		}
		return c.SendString(strconv.FormatInt(n, 10))
	}))
	return s
}

func (s *service) post(t *testing.T, path, body string, headers ...string) (status int, answer string) {
	t.Helper()
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	a, err := s.app.Test(r, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	if a.Header.Get(api.Replayed) == "true" {
		text = append(text, " again"...)
	}
	return a.StatusCode, string(text)
}

// A request with a key is carried out once. Only the same caller, path, target, key and body receive its
// response again.
func TestOnce(t *testing.T) {
	t.Parallel()
	const key = "Idempotency-Key: k"
	for _, c := range []struct {
		name, path, body string
		headers          []string
		status           int
		answer           string
	}{
		{"the same request", "/a", "x", []string{key}, 200, "1 again"},
		{"another body", "/a", "y", []string{key}, 422, "idempotency_key_reused"},
		{"another path", "/b", "x", []string{key}, 200, "2"},
		{"another caller", "/a", "x", []string{key, "Caller: bob"}, 200, "2"},
		{"another target", "/a", "x", []string{key, "Acts-On: b"}, 200, "2"},
		{"another key", "/a", "x", []string{"Idempotency-Key: l"}, 200, "2"},
		{"no key", "/a", "x", nil, 200, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			if status, answer := s.post(t, "/a", "x", key); status != 200 || answer != "1" {
				t.Fatalf("the first request: %d %s", status, answer)
			}
			if status, answer := s.post(t, c.path, c.body, c.headers...); status != c.status || answer != c.answer {
				t.Errorf("got %d %q, want %d %q", status, answer, c.status, c.answer)
			}
		})
	}
}

// A request that failed did nothing, so it may be repeated with its key.
func TestFailedIsNotKept(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for range 2 {
		if status, answer := s.post(t, "/a", "fail", "Idempotency-Key: k"); status != 503 {
			t.Errorf("%d %s", status, answer)
		}
	}
	if n := s.runs.Load(); n != 2 {
		t.Errorf("the handler ran %d times", n)
	}
}

func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{
		"two keys": {"Idempotency-Key: a", "Idempotency-Key: b"},
		"too long": {"Idempotency-Key: " + strings.Repeat("k", 256)},
		"a space":  {"Idempotency-Key: a b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			if status, answer := s.post(t, "/a", "x", headers...); status != 400 || s.runs.Load() != 0 {
				t.Errorf("%d %s, %d ran", status, answer, s.runs.Load())
			}
		})
	}
}
