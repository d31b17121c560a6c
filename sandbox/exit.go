package sandbox

import (
	"fmt"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// exited ends a run whose code has called process.exit.
type exited struct {
	code  int32
	value []byte
}

func (e *exited) Error() string { return fmt.Sprintf("the code called process.exit(%d)", e.code) }

// exitOp(code, result) does not return.
func exitOp(c *call, a []quickjs.Value) (quickjs.Value, error) {
	code, _ := a[0].Int()
	if c.in.Len(a[1]) > c.limits.OutputBytes {
		return 0, c.limits.exceeded(LimitOutput)
	}
	value, ok, err := c.str(a[1], c.limits.OutputBytes)
	if err != nil {
		return 0, err
	}
	if !ok {
		value = "null"
	}
	return 0, &exited{code, []byte(value)}
}
