package sandbox

import (
	"unicode/utf16"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// valueKind(v) tells what an object is; see quickjs.Kind.
func valueKind(c *call, a []quickjs.Value) (quickjs.Value, error) {
	return quickjs.Int(int32(c.in.Kind(a[0]))), nil
}

// promiseState(promise, 0) is 0, 1 or 2: pending, fulfilled, rejected; promiseState(promise, 1) is the result.
func promiseState(c *call, a []quickjs.Value) (quickjs.Value, error) {
	state, result := c.in.PromiseResult(a[0])
	if what, _ := a[1].Int(); what != 0 {
		return result, nil
	}
	return quickjs.Int(int32(state)), nil
}

// iteratorPart(iterator, 0) is what it goes through; 1, what it gives of that; 2, how many it has given.
func iteratorPart(c *call, a []quickjs.Value) (quickjs.Value, error) {
	what, _ := a[1].Int()
	of, gives, given, err := c.in.IteratorParts(a[0], func(records int) error { return c.work(16 * records) })
	if err != nil {
		return 0, err
	}
	switch what {
	case 1:
		return quickjs.Int(gives), nil
	case 2:
		return quickjs.Int(given), nil
	}
	return of, nil
}

// proxyPart(proxy, 0) is the target, proxyPart(proxy, 1) the handler.
func proxyPart(c *call, a []quickjs.Value) (quickjs.Value, error) {
	target, handler := c.in.ProxyParts(a[0])
	if what, _ := a[1].Int(); what != 0 {
		return handler, nil
	}
	return target, nil
}

// stackFrames(stack) is where the frames begin in a stack that the engine has made: -1 in one that the guest has set.
func stackFrames(c *call, a []quickjs.Value) (quickjs.Value, error) {
	stack, ok := c.word(a[0], maxErrorText)
	if err := c.work(4 * len(stack)); err != nil {
		return 0, err
	}
	if !ok || c.source == nil {
		return quickjs.Int(-1), nil
	}
	at := c.source.FrameStart(stack)
	if at < 0 {
		return quickjs.Int(-1), nil
	}
	return quickjs.Int(int32(len(utf16.Encode([]rune(stack[:at]))))), nil
}
