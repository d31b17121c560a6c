package sandbox

import "github.com/airlock-run/airlock/sandbox/internal/quickjs"

// valueKind(v) tells what an object is; see quickjs.Kind.
func valueKind(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	return quickjs.Int(int32(in.Kind(a[0]))), nil
}

// promiseState(promise, 0) is 0, 1 or 2: pending, fulfilled, rejected; promiseState(promise, 1) is the result.
func promiseState(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	state, result := in.PromiseResult(a[0])
	if what, _ := a[1].Int(); what != 0 {
		return result, nil
	}
	return quickjs.Int(int32(state)), nil
}

// proxyPart(proxy, 0) is the target, proxyPart(proxy, 1) the handler.
func proxyPart(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	target, handler := in.ProxyParts(a[0])
	if what, _ := a[1].Int(); what != 0 {
		return handler, nil
	}
	return target, nil
}

// callerStack(stack) gives the frames of a stack in the caller's own source.
func callerStack(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	stack, ok := in.Str(a[0], maxErrorText)
	if !ok || r.source == nil {
		return in.String("")
	}
	return text(in, r.source.exception("", "", stack).Stack)
}
