package web

import (
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// valueKind(v) tells what an object is; see quickjs.Kind.
func valueKind(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	return quickjs.Int(int32(c.In.Kind(a[0]))), nil
}

// promiseState(promise, 0) is 0, 1 or 2: pending, fulfilled, rejected; promiseState(promise, 1) is the result.
func promiseState(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	state, result := c.In.PromiseResult(a[0])
	if what, _ := a[1].Int(); what != 0 {
		return result, nil
	}
	return quickjs.Int(int32(state)), nil
}

// iteratorPart(iterator, 0) is what it goes through; 1, what it gives of that; 2, how many it has given.
func iteratorPart(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	what, _ := a[1].Int()
	of, gives, given, err := c.In.IteratorParts(a[0], func(records int) error { return c.Work(16 * records) })
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
func proxyPart(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	target, handler := c.In.ProxyParts(a[0])
	if what, _ := a[1].Int(); what != 0 {
		return handler, nil
	}
	return target, nil
}
