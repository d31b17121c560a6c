package web

import (
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// valueKind answers value.kind(v): it returns what an object is; see quickjs.Kind.
func valueKind(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	return quickjs.Int(int32(c.In.Kind(a[0]))), nil
}

// promiseState answers value.promise(promise, what). For 0 it returns 0, 1 or 2: pending, fulfilled or rejected. For
// 1 it returns the result.
func promiseState(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	state, result := c.In.PromiseResult(a[0])
	if what, _ := a[1].Int(); what != 0 {
		return result, nil
	}
	return quickjs.Int(int32(state)), nil
}

// iteratorPart answers value.iterator(iterator, what). For 0 it returns the map or set, for 1 what the iterator
// returns of each entry, for 2 how many entries it has returned.
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

// proxyPart answers value.proxy(proxy, what). For 0 it returns the target, for 1 the handler.
func proxyPart(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	target, handler := c.In.ProxyParts(a[0])
	if what, _ := a[1].Int(); what != 0 {
		return handler, nil
	}
	return target, nil
}
