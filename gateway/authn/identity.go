package authn

import "slices"

// The scopes. A token carries the ones it was given; the API key and the local user have all of them.
const (
	// Execute: run and analyse code, read back one's own results, see and invoke the saved functions of one's own tenant.
	Execute = "execute"
	// Functions: save, change and delete the functions of one's own tenant.
	Functions = "functions"
	// Priority: ask for priority "high".
	Priority = "priority"
	// AuditRead: read the audit records of one's own tenant.
	AuditRead = "audit:read"
	// AuditReadAll: read the audit records and results of every tenant; it includes AuditRead.
	AuditReadAll = "audit:read:all"
)

// Scopes lists every scope there is.
func Scopes() []string { return []string{Execute, Functions, Priority, AuditRead, AuditReadAll} }

// DefaultTenant is the tenant of callers whose credential names none.
const DefaultTenant = "default"

// Identity is a caller who was recognised. The zero value may do nothing.
type Identity struct {
	Subject string
	Tenant  string
	Scopes  []string
}

// May reports whether the identity has a scope.
func (i Identity) May(scope string) bool {
	if scope == AuditRead && slices.Contains(i.Scopes, AuditReadAll) {
		return true
	}
	return slices.Contains(i.Scopes, scope)
}

// Owner is the key under which what this caller asked for is kept: nobody else is given it.
func (i Identity) Owner() string { return i.Tenant + "\x00" + i.Subject }
