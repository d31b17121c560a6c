package api_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
)

// outcome returns what a handler's error is: the status and code of a problem, or the field of an invalid request.
func outcome(t *testing.T, err error) (status int, code string) {
	t.Helper()
	var problem *api.Problem
	var invalid *execution.Error
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &problem):
		return problem.Status, problem.Code
	case errors.As(err, &invalid):
		return 400, invalid.Field
	}
	t.Fatalf("an error of another kind: %v", err)
	return 0, ""
}

// handle has a handler serve one request.
func handle(t *testing.T, method, target, body string, headers []string, handler func(*fiber.Ctx) error) {
	t.Helper()
	app := fiber.New()
	app.All("*", handler)
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	answer, err := app.Test(r, -1)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
}

func TestRequireJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"JSON", []string{"Content-Type: application/json"}, 0},
		{"JSON in UTF-8", []string{"Content-Type: application/json; charset=UTF-8"}, 0},
		{"JSON in another charset", []string{"Content-Type: application/json; charset=latin1"}, 415},
		{"a web form", []string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		{"no type", nil, 415},
		{"compressed", []string{"Content-Type: application/json", "Content-Encoding: gzip"}, 415},
		{"identity coding", []string{"Content-Type: application/json", "Content-Encoding: identity"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			handle(t, "POST", "/", "{}", c.headers, func(ctx *fiber.Ctx) error {
				if got, _ := outcome(t, api.RequireJSON(ctx)); got != c.want {
					t.Errorf("status %d, want %d", got, c.want)
				}
				return nil
			})
		})
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, query, field, limit string }{
		{"known", "?limit=5", "", "5"},
		{"empty", "?limit=", "", ""},
		{"unknown", "?nope=1", "nope", ""},
		{"repeated", "?limit=1&limit=2", "limit", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			handle(t, "GET", "/"+c.query, "", nil, func(ctx *fiber.Ctx) error {
				given, err := api.Query(ctx, "limit")
				if _, field := outcome(t, err); field != c.field || given["limit"] != c.limit {
					t.Errorf("field %q, limit %q; want %q, %q", field, given["limit"], c.field, c.limit)
				}
				return nil
			})
		})
	}
}

func TestNeed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		scopes []string
		want   int
	}{
		{"without scopes", []string{}, 403},
		{"another scope", []string{authn.Execute}, 403},
		{"the scope", []string{authn.AuditRead}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			passed := false
			app := fiber.New(fiber.Config{ErrorHandler: func(_ *fiber.Ctx, err error) error {
				if got, code := outcome(t, err); got != c.want || code != "insufficient_scope" {
					t.Errorf("status %d, code %s", got, code)
				}
				return nil
			}})
			app.Get("/", func(ctx *fiber.Ctx) error {
				api.SetCaller(ctx, authn.Identity{Tenant: "t", Subject: "s", Scopes: c.scopes})
				return ctx.Next()
			}, api.Need(authn.AuditRead), func(*fiber.Ctx) error { passed = true; return nil })
			answer, err := app.Test(httptest.NewRequest("GET", "/", nil), -1)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if passed != (c.want == 0) {
				t.Errorf("the handler ran: %v", passed)
			}
		})
	}
}

func TestRespondAsync(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"":                            false,
		"wait=10":                     false,
		"respond-async":               true,
		"Respond-Async; wait=10":      true,
		"wait=10, respond-async":      true,
		"respond-asynchronously":      false,
		"handling=respond-async-soon": false,
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			handle(t, "POST", "/", "", nil, func(ctx *fiber.Ctx) error {
				ctx.Request().Header.Set("Prefer", header)
				if got := api.RespondAsync(ctx); got != want {
					t.Errorf("got %v", got)
				}
				return nil
			})
		})
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int{0: 0, 1: 1, time.Second: 1, time.Second + 1: 2, -time.Second: -1} {
		if got := api.Seconds(d); got != want {
			t.Errorf("Seconds(%v) is %d, want %d", d, got, want)
		}
	}
}

// Clip never cuts a character in half.
func TestClip(t *testing.T) {
	t.Parallel()
	const text = "aé€😀"
	for n := range len(text) + 2 {
		got := api.Clip(text, n)
		if !utf8.ValidString(got) || len(got) > n+len("…") {
			t.Errorf("Clip to %d bytes returns %q", n, got)
		}
		if n >= len(text) && got != text {
			t.Errorf("Clip to %d bytes changes the text to %q", n, got)
		}
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		given map[string]string
		want  int
		field string
	}{
		{nil, 50, ""}, {map[string]string{"limit": "1"}, 1, ""}, {map[string]string{"limit": "500"}, 500, ""},
		{map[string]string{"limit": "501"}, 0, "limit"}, {map[string]string{"limit": "0"}, 0, "limit"},
		{map[string]string{"limit": "all"}, 0, "limit"},
	} {
		got, err := api.Limit(c.given, 50, 500)
		if _, field := outcome(t, err); field != c.field || got != c.want {
			t.Errorf("%v: %d and field %q, want %d and %q", c.given, got, field, c.want, c.field)
		}
	}
}
