// Package policy answers one question: may this code run, and with what powers?
//
// [Set.Decide] is a pure function of an [Ask] and of the [Set], which holds the built-in tiers and what one deployment
// file tightened, added or forbade. It does no I/O, reads no clock and keeps no state, so a Set serves any number of
// goroutines and the same question always has the same answer.
//
// The road to a decision:
//
//	Ask → tier → meet of tier, deployment, tenant, token and request → Grants
//	    → source (fences, shape) → syntax tree → findings → score → level
//	    → rules: size, tier, forbidden categories and patterns, threat level
//	    → Decision: allow only when every rule said so
//
// Whatever is not an explicit allow is a denial: the zero Effect is Deny, a rule that fails or panics denies, and an empty
// grant list grants nothing. Each decision explains itself in Reasons: which rule, from which source.
//
// The scan is advice that may block, never isolation: the sandbox holds with the scan switched off. It works on the
// syntax tree and follows names through aliases, destructuring, computed and folded strings, Reflect, Proxy and bound
// functions; what merely looks like an attack in a comment, a string or a property name is not a finding. It is bounded:
// limited in depth and in work, which is counted and goes with the size of the code. Code that no parser here takes, because
// the engine is the judge of syntax, or that would take too much work, is scanned by tokens, marked unanalysed and scored
// medium.
package policy
