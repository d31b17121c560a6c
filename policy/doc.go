// Package policy decides whether code may run, and with what powers.
//
// [Set.Decide] is a function of a [Request] and of the deployment's [Rules]. It does no I/O and reads no clock, so the
// same question always has the same answer, and a Set serves any number of goroutines. The only thing that a Set
// remembers is the scan of code that runs again and again, which changes no answer.
//
//	Request → tier → intersection of tier, deployment, tenant, token and request → Grants
//	        → scan of the code → findings → score → level
//	        → checks: size, forbidden patterns and categories, threat level
//	        → Decision: Allow only if no check denied
//
// Whatever is not explicitly allowed is denied: the zero Effect is Deny, a check that fails or panics denies, and an
// empty grant list grants nothing. A decision explains itself in Reasons: which rule, from which source.
//
// # Where to go from here
//
// Start with decide.go, which shows the decision on one screen. Package deployment reads the rules of a deployment from
// YAML, package scan finds threats in code, package threat defines findings, and package audit defines the record of an
// execution. The other packages below policy are leaves, which every package may import: rules that more than one room
// applies, such as which addresses may be dialled (address) and how a text of code is read (scripttext).
//
// Package policy imports only its own subpackages. The gateway and the functions import it; the sandbox does not.
package policy
