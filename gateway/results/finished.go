package results

import "github.com/airlock-run/airlock/gateway/authn"

// Finished is the result of an execution, encoded as its caller received it.
type Finished struct {
	Owner string // authn.Identity.Owner of the caller
	Body  []byte
}

// VisibleTo reports whether a caller may see the result.
func (f Finished) VisibleTo(caller authn.Identity) bool {
	return f.Owner == caller.Owner() || caller.May(authn.AuditReadAll)
}
