package node_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/hostops/node"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/opstest"
)

// Buffers convert between bytes and text as Node does.
func TestOps(t *testing.T) {
	for _, c := range []struct{ name, expression, want string }{
		{"hex", `op('buffer.encode', 'hex', bytes(1, 255))`, `"01ff"`},
		{"from hex", `list(op('buffer.decode', 'hex', '01ff0'))`, `[1,255]`},
		{"base64url", `op('buffer.encode', 'base64url', bytes(251, 255))`, `"-_8"`},
		{"unknown encoding", `op('buffer.encode', 'nope', bytes(1))`, `TypeError: invalid arguments`},
		{"forged arguments", `op('buffer.encode', 1, 2)`, `TypeError: invalid arguments`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := opstest.Eval(t, node.Ops, c.expression); got != c.want {
				t.Errorf("%s is %s, want %s", c.expression, got, c.want)
			}
		})
	}
}
