package authn

import (
	"slices"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
)

// The scopes. A token carries the ones it was given; the API key and the local user have all of them.
const (
	// Execute permits to run and analyse code, to read the caller's own results, and to list and invoke the saved
	// functions of the caller's tenant.
	Execute = "execute"
	// Functions permits to save, change and delete the functions of the caller's tenant.
	Functions = "functions"
	// Priority permits to request priority "high".
	Priority = "priority"
	// Approve permits to see the paused executions of the caller's tenant and to decide about them.
	Approve = "approve"
	// Cancel permits to cancel the jobs of the caller's tenant that somebody else submitted, or a webhook or a schedule.
	Cancel = "cancel"
	// AuditRead permits to read the audit records of the caller's tenant.
	AuditRead = "audit:read"
	// AuditReadAll permits to read the audit records and results of every tenant. It includes AuditRead.
	AuditReadAll = "audit:read:all"
)

// Scopes returns every scope.
func Scopes() []string {
	return []string{Execute, Functions, Priority, Approve, Cancel, AuditRead, AuditReadAll}
}

// DefaultTenant is the tenant of the operator, of the local user and of tokens without a tenant claim. A token may not
// name it.
const DefaultTenant = "default"

// The subjects that are not made from a name, and the kinds of those that are. A kind ends with its colon.
const (
	operatorSubject = "key:operator"
	localSubject    = "local"
	kindHook        = "hook:"
	kindSchedule    = "schedule:"
	// kindFormer marks a subject that an older version stored without its kind.
	kindFormer = "former:"
)

// The subjects that older versions stored for the API key and for the local user.
const (
	formerOperator = "api-key"
	formerLocal    = "local"
)

// An Identity is a caller who was recognized. The zero value may do nothing.
type Identity struct {
	// Subject says who the caller is, and begins with the kind of credential that says so:
	//
	//	key:operator        the deployment's API key
	//	jwt:issuer/subject  a token; a % or / of its sub is written %25 or %2F, so that the last / parts the two
	//	local               the user of a gateway without credentials
	//	hook:name           a webhook of the tenant's function
	//	schedule:name       a schedule of the tenant's function
	//
	// No two kinds share a subject, whatever a token claims.
	Subject string
	Tenant  string
	Scopes  []string
}

// Operator returns the identity of the deployment's API key.
func Operator() Identity {
	return Identity{Subject: operatorSubject, Tenant: DefaultTenant, Scopes: Scopes()}
}

// Local returns the identity of the user of a gateway without credentials.
func Local() Identity {
	return Identity{Subject: localSubject, Tenant: DefaultTenant, Scopes: Scopes()}
}

// Hook returns the identity of a function's webhook. It has no scopes.
func Hook(tenant, function string) Identity {
	return Identity{Subject: kindHook + function, Tenant: tenant}
}

// Schedule returns the identity of a function's schedule. It has no scopes.
func Schedule(tenant, function string) Identity {
	return Identity{Subject: kindSchedule + function, Tenant: tenant}
}

// Former returns the identity that an older version stored without a kind. Its subject equals nobody's.
// [Identity.Owns] says who owns what it owns.
func Former(tenant, subject string) Identity {
	switch {
	case tenant == DefaultTenant && subject == formerOperator:
		return Identity{Subject: operatorSubject, Tenant: tenant}
	case tenant == DefaultTenant && subject == formerLocal:
		return Identity{Subject: localSubject, Tenant: tenant}
	}
	return Identity{Subject: kindFormer + subject, Tenant: tenant}
}

// Anonymous reports whether the identity is that of a token that does not name its subject.
func (i Identity) Anonymous() bool {
	sub, isToken := execution.TokenSub(i.Subject)
	return isToken && sub == "" || i.Subject == ""
}

// May reports whether the identity has a scope.
func (i Identity) May(scope string) bool {
	if scope == AuditRead && slices.Contains(i.Scopes, AuditReadAll) {
		return true
	}
	return slices.Contains(i.Scopes, scope)
}

// Owner returns the key under which the gateway keeps what this caller asked for. Nobody else has it.
func (i Identity) Owner() string { return i.Tenant + "\x00" + i.Subject }

// FormerOwner returns the key under which an older version kept what this caller asked for. It is "" if that key
// would be shared with another kind, or equals Owner.
func (i Identity) FormerOwner() string {
	if i.Subject == operatorSubject {
		return i.Tenant + "\x00" + formerOperator
	}
	sub, isToken := execution.TokenSub(i.Subject)
	if !isToken || Former(i.Tenant, sub).Subject != kindFormer+sub {
		return ""
	}
	return i.Tenant + "\x00" + sub
}

// Owns reports whether this caller owns what is kept for the other identity. What an older version kept for a token
// belongs to any token with its tenant and sub, as it did then, because that version knew no issuer. What it kept for
// the API key or the local user belongs to them, and to no token.
func (i Identity) Owns(other Identity) bool {
	if i.Tenant != other.Tenant {
		return false
	}
	sub, isToken := execution.TokenSub(i.Subject)
	return i.Subject == other.Subject || isToken && other.Subject == kindFormer+sub
}

// RestrictingScopes returns the scopes that the policy decides by. The others only open endpoints of the gateway.
func RestrictingScopes(scopes []string) []string {
	var out []string
	for _, s := range scopes {
		kind, _, _ := strings.Cut(s, ":")
		switch kind {
		case "tier", "host", "secret", "tool":
			out = append(out, s)
		}
	}
	return out
}
