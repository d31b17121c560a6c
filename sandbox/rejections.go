package sandbox

import (
	"slices"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// maxRejected bounds the rejected promises that are kept for nobody has handled them.
const maxRejected = 100

// Rejected implements quickjs.Host.
func (r *run) Rejected(in *quickjs.Instance, promise quickjs.Value, handled bool) {
	if !handled {
		if len(r.rejected) < maxRejected {
			in.Retain(promise)
			r.rejected = append(r.rejected, promise)
		}
		return
	}
	if i := slices.Index(r.rejected, promise); i >= 0 {
		in.Release(promise)
		r.rejected = slices.Delete(r.rejected, i, i+1)
	}
}

// tellRejected has code that ends without a value fail with the first rejection that nobody has handled, unless the code
// listens for those itself. told is false when there is none.
func (r *run) tellRejected(in *quickjs.Instance) (told bool, err error) {
	if len(r.rejected) == 0 {
		return false, nil
	}
	promise := r.rejected[0]
	r.rejected = r.rejected[1:]
	_, reason := in.PromiseResult(promise)
	return true, r.guest(in, r.image.Root(stdlib.RootReject), reason, promise)
}
