package gateway_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/airlock-run/airlock/gateway/authn"
)

func forged(t *testing.T, key string, expires time.Duration) string {
	t.Helper()
	claims := jwt.MapClaims{"sub": "ann", "scope": "execute", "exp": time.Now().Add(expires).Unix()}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// Each endpoint accepts as many wrong credentials of an address as the limit allows, and then checks none, right or
// wrong.
func TestEveryLoginIsBounded(t *testing.T) {
	t.Parallel()
	const most = 3
	const event = `{"code":"1","hook":{"scheme":"shared-header","secret":"a-secret-of-sixteen-bytes-or-more",` +
		`"header":"X-Token"}}`
	for name, c := range map[string]struct {
		wrong, right func(t *testing.T, s *served) answer
		refused      int
	}{
		"Authorization": {
			func(t *testing.T, s *served) answer {
				return s.do(t, "GET", "/api/engines", "", bearer("a guess of sixteen"))
			},
			func(t *testing.T, s *served) answer { return s.do(t, "GET", "/api/engines", "", bearer(apiKey)) }, 401,
		},
		"X-API-Key": {
			func(t *testing.T, s *served) answer {
				return s.do(t, "GET", "/api/engines", "", "X-API-Key: a guess of sixteen")
			},
			func(t *testing.T, s *served) answer {
				return s.do(t, "GET", "/api/engines", "", "X-API-Key: "+apiKey)
			}, 401,
		},
		"a forged token": {
			func(t *testing.T, s *served) answer {
				return s.do(t, "GET", "/api/engines", "", bearer(forged(t, "another secret of more than 32 bytes", time.Hour)))
			},
			func(t *testing.T, s *served) answer {
				return s.do(t, "GET", "/api/engines", "", bearer(forged(t, secret, time.Hour)))
			}, 401,
		},
		"metrics": {
			func(t *testing.T, s *served) answer { return s.do(t, "GET", "/metrics", "", bearer("guess")) },
			func(t *testing.T, s *served) answer { return s.do(t, "GET", "/metrics", "", bearer(apiKey)) }, 401,
		},
		"MCP": {
			func(t *testing.T, s *served) answer { return s.do(t, "POST", "/mcp", "{}", bearer("guess")) },
			func(t *testing.T, s *served) answer { return s.do(t, "POST", "/mcp", "{}", bearer(apiKey)) }, 401,
		},
		"the login form": {
			func(t *testing.T, s *served) answer { return s.login(t, "guess", "/") },
			func(t *testing.T, s *served) answer { return s.login(t, apiKey, "/") }, 401,
		},
		"a page": {
			func(t *testing.T, s *served) answer { return s.do(t, "GET", "/dashboard", "", bearer("guess")) },
			func(t *testing.T, s *served) answer { return s.do(t, "GET", "/dashboard", "", bearer(apiKey)) }, 401,
		},
		"a webhook's shared header": {
			func(t *testing.T, s *served) answer { return s.do(t, "POST", "/hooks/f", "{}", "X-Token: guess") },
			func(t *testing.T, s *served) answer {
				return s.do(t, "POST", "/hooks/f", "{}", "X-Token: a-secret-of-sixteen-bytes-or-more")
			}, 401,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := kept(t, options{max: most, auth: authn.Config{APIKey: apiKey, Keys: hs256(t)}})
			if strings.Contains(name, "webhook") {
				want(t, s.do(t, "PUT", "/api/functions/f", event, bearer(apiKey)), 201)
			}
			for range most {
				if a := c.wrong(t, s); a.StatusCode != c.refused {
					t.Fatalf("a wrong credential: %d %s", a.StatusCode, a.body)
				}
			}
			for kind, a := range map[string]answer{"wrong": c.wrong(t, s), "right": c.right(t, s)} {
				a.problem(t, 429)
				if after, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || after < 1 || after > 61 {
					t.Errorf("%s: Retry-After %q", kind, a.Header.Get("Retry-After"))
				}
			}
		})
	}
}

func TestSessionGuessesAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, options{max: 3, auth: authn.Config{APIKey: apiKey}})
	own := []string{s.enter(t, apiKey), withToken, "Sec-Fetch-Site: same-origin"}
	want(t, s.do(t, "GET", "/api/engines", "", own...), 200)
	for range 3 {
		s.do(t, "GET", "/api/engines", "", bearer("guess")).problem(t, 401)
	}
	s.do(t, "GET", "/api/engines", "", own...).problem(t, 429)
	s.do(t, "GET", "/dashboard", "", own[0], aPage).problem(t, 429)
}

// Requests that are not guesses lock nobody out: without a credential, with a genuine but expired token, or with the
// signature of a webhook.
func TestExpiredTokensAreNoGuesses(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{
		"no credential": nil, "an expired token": {bearer(forged(t, secret, -time.Hour))},
		"an empty credential": {"Authorization: Bearer "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, options{max: 3, auth: authn.Config{APIKey: apiKey, Keys: hs256(t)}})
			for range 3 {
				s.do(t, "GET", "/api/engines", "", headers...).problem(t, 401)
			}
			s.do(t, "GET", "/api/engines", "", headers...).problem(t, 429)
			want(t, s.do(t, "GET", "/api/engines", "", bearer(apiKey)), 200)
		})
	}
}

// Concurrent guesses count like consecutive ones.
func TestParallelGuesses(t *testing.T) {
	t.Parallel()
	const most = 5
	s := serve(t, options{max: most, auth: authn.Config{APIKey: apiKey}})
	var mu sync.Mutex
	var work sync.WaitGroup
	answers := map[int]int{}
	for n := range 20 {
		work.Go(func() {
			for i := range 20 {
				a := s.do(t, "GET", "/api/engines", "", bearer(fmt.Sprintf("guess %d of %d", i, n)))
				mu.Lock()
				answers[a.StatusCode]++
				mu.Unlock()
			}
		})
	}
	work.Wait()
	if answers[401] != most || answers[429] != 400-most {
		t.Errorf("%v; want %d of 401 and %d of 429", answers, most, 400-most)
	}
}
