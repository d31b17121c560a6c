package gateway_test

import (
	"testing"

	"github.com/airlock-run/airlock/gateway"
)

// Several gateways know the keys that another one took. Without a place to keep them, a key is refused, because the
// next request with it would run the code again.
func TestIdempotencyKeyAcrossGateways(t *testing.T) {
	t.Parallel()
	state := opened(t)
	spread := gateway.Config{MultiInstance: true}
	one, other := serve(t, options{config: spread, state: state}), serve(t, options{config: spread, state: state})
	first := one.do(t, "POST", "/api/execute", code("1"), "Idempotency-Key: k")
	second := other.do(t, "POST", "/api/execute", code("1"), "Idempotency-Key: k")
	second.headers(t, "Idempotency-Replayed", "true")
	if first.StatusCode != 200 || second.StatusCode != 200 || string(first.body) != string(second.body) {
		t.Errorf("%d %s, then %d %s", first.StatusCode, first.body, second.StatusCode, second.body)
	}
	other.do(t, "POST", "/api/execute", code("2"), "Idempotency-Key: k").problem(t, 422)
	none := serve(t, options{config: spread})
	none.do(t, "POST", "/api/execute", code("1"), "Idempotency-Key: k").problem(t, 501)
	if a := none.do(t, "POST", "/api/execute", code("1")); a.StatusCode != 200 {
		t.Errorf("without a key: %d", a.StatusCode)
	}
}
