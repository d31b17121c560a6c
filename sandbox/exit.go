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
func exitOp(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	code, _ := a[0].Int()
	if in.Len(a[1]) > r.limits.OutputBytes {
		return 0, r.limits.exceeded(LimitOutput)
	}
	value, ok := in.Str(a[1], r.limits.OutputBytes)
	if !ok {
		value = "null"
	}
	return 0, &exited{code, []byte(value)}
}
