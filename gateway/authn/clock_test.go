package authn_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/airlock-run/airlock/gateway/authn"
)

// A token is judged by the time of day. Nothing is remembered of a clock that was wrong.
func TestTokensUnderClockJumps(t *testing.T) {
	t.Parallel()
	key := must[authn.Key](t)(authn.SecretKey([]byte(secret)))
	at := now
	a := must[*authn.Authenticator](t)(
		authn.New(authn.Config{Keys: []authn.Key{key}, Now: func() time.Time { return at }}),
	)
	claims := map[string]any{"sub": "alice", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	token := "Bearer " + sign(t, jwt.SigningMethodHS256, []byte(secret), nil, claims)
	plain := "Bearer " + sign(
		t, jwt.SigningMethodHS256, []byte(secret), nil, map[string]any{"sub": "alice", "exp": now.Add(time.Hour).Unix()},
	)
	for _, step := range []struct {
		name        string
		jump        time.Duration
		token, says string
	}{
		{"as it should be", 0, token, ""},
		{"back by a day", -24 * time.Hour, token, "not valid yet"},
		{"back by a day, without iat", -24 * time.Hour, plain, ""},
		{"put right", 0, token, ""},
		{"forward by a day", 24 * time.Hour, token, "has expired"},
		{"put right again", 0, token, ""},
		{"forward by a day, without iat", 24 * time.Hour, plain, "has expired"},
		{"back by a second", -time.Second, token, "not valid yet"},
		{"just before it ends", time.Hour - time.Second, token, ""},
	} {
		at = now.Add(step.jump)
		_, err := a.Authenticate(step.token, "")
		if (err == nil) != (step.says == "") || !strings.Contains(fmt.Sprint(err), step.says) {
			t.Errorf("%s: %v, want %q", step.name, err, step.says)
		}
	}
}
