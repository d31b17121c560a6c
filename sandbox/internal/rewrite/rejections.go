package rewrite

import "github.com/airlock-run/airlock/sandbox/internal/wasm"

// The engine reports each promise that is rejected while nobody handles it, and each whose rejection is handled later,
// by an indirect call of a type that nothing else has. An added function takes its place:
//
//	track(ctx, promise, reason, handled, opaque): hostCall(ctx, promise, handled | Tracked, null)

// Tracked is set in the argument count of a host call that track makes.
const Tracked = 1 << 30

// trackBody returns the code of track.
func (w *rewriter) trackBody() []byte {
	a := w.assemble().get(0).get(1).get(3).i32(Tracked).op(wasm.I32Or).i32(0)
	return a.call(w.hostCall()).op(wasm.Drop).end()
}
