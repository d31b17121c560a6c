package access_test

import (
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/ratelimit"
)

const key = "a-key-of-sixteen-bytes-or-more"

// serve returns a server that answers with the tenant of the caller, behind the control's middleware.
func serve(t *testing.T, requests int, clock func() time.Time) *fiber.App {
	t.Helper()
	auth, err := authn.New(authn.Config{APIKey: key, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	limiter, err := ratelimit.New(ratelimit.Config{Window: time.Minute, Max: requests, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	control, err := access.New(auth, access.Limits{Limiter: limiter}, 300, clock)
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		if problem := (*api.Problem)(nil); errors.As(err, &problem) {
			return c.Status(problem.Status).SendString(problem.Code)
		}
		if refusal := (*authn.Refusal)(nil); errors.As(err, &refusal) {
			return c.Status(401).SendString("unauthenticated")
		}
		return c.Status(500).SendString(err.Error())
	}})
	app.Get("/", control.Authenticate, control.Limit, func(c *fiber.Ctx) error {
		return c.SendString(api.CallerOf(c).Tenant)
	})
	return app
}

func get(t *testing.T, app *fiber.App, credential string) (status int, body string) {
	t.Helper()
	r := httptest.NewRequest("GET", "/", nil)
	if credential != "" {
		r.Header.Set("X-API-Key", credential)
	}
	answer, err := app.Test(r, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, credential string
		status           int
		body             string
	}{
		{"the key", key, 200, authn.DefaultTenant},
		{"another key", key + "x", 401, "unauthenticated"},
		{"none", "", 401, "unauthenticated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if status, body := get(t, serve(t, 10, time.Now), c.credential); status != c.status || body != c.body {
				t.Errorf("got %d %s, want %d %s", status, body, c.status, c.body)
			}
		})
	}
}

// After 30 wrong credentials an address is locked out, even with a right one, until the minute is over.
func TestGuessing(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	app := serve(t, 100, func() time.Time { return now })
	for n := range 30 {
		if status, _ := get(t, app, "a wrong key of sixteen bytes"); status != 401 {
			t.Fatalf("wrong credential %d: %d", n+1, status)
		}
	}
	if status, body := get(t, app, key); status != 429 || body != "rate_limited" {
		t.Errorf("the right key after 30 wrong ones: %d %s", status, body)
	}
	now = now.Add(2 * time.Minute)
	if status, _ := get(t, app, key); status != 200 {
		t.Errorf("two minutes later: %d", status)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	app := serve(t, 2, time.Now)
	for n, want := range []int{200, 200, 429} {
		if status, _ := get(t, app, key); status != want {
			t.Errorf("request %d: %d, want %d", n+1, status, want)
		}
	}
}

// A caller for whom there is no place is refused, and a place that was left is free again.
func TestEnter(t *testing.T) {
	t.Parallel()
	pool := bounds.NewPool(1)
	app := fiber.New()
	app.Get("/", func(c *fiber.Ctx) error {
		leave, err := access.Enter(c, pool, bounds.Streams)
		if err != nil {
			t.Fatal(err)
		}
		_, err = access.Enter(c, pool, bounds.Streams)
		if problem := (*api.Problem)(nil); !errors.As(err, &problem) || problem.Status != 503 || problem.Code != "too_many" {
			t.Errorf("a full pool: %v", err)
		}
		leave()
		if _, err := access.Enter(c, pool, bounds.Streams); err != nil {
			t.Errorf("after leave: %v", err)
		}
		return nil
	})
	answer, err := app.Test(httptest.NewRequest("GET", "/", nil), -1)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
}
