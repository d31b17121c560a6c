package crypto_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/hostops/crypto"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/opstest"
)

// Hashes and signatures have the standard values, and forged arguments are refused.
func TestOps(t *testing.T) {
	for _, c := range []struct{ name, expression, want string }{
		{"SHA-256", `list(op('crypto.digest', 'SHA-256', bytes(97, 98, 99))).slice(0, 4)`, `[186,120,22,191]`},
		{"unknown hash", `op('crypto.digest', 'MD4', bytes())`, `NotSupportedError: the hash "MD4" is not supported`},
		{"HMAC", `list(op('crypto.hmac', 'SHA-256', bytes(1), bytes(2))).length`, `32`},
		{"verify an HMAC", `op('crypto.hmacVerify', 'SHA-256', bytes(1), bytes(2), op('crypto.hmac', 'SHA-256', ` +
			`bytes(1), bytes(2)))`,
			`true`},
		{"refuse another message",
			`op('crypto.hmacVerify', 'SHA-256', bytes(1), bytes(3), op('crypto.hmac', 'SHA-256', bytes(1), bytes(2)))`,
			`false`},
		{"forged arguments", `op('crypto.digest', 1, 2)`, `NotSupportedError: the hash "" is not supported`},
		{"key that is none", `op('crypto.sign', 'x', 'x', bytes(1), bytes(2))`, `TypeError: invalid arguments`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := opstest.Eval(t, crypto.Ops, c.expression); got != c.want {
				t.Errorf("%s is %s, want %s", c.expression, got, c.want)
			}
		})
	}
}
