// Package deployment reads the policy file of a deployment: YAML in, a [policy.Set] out.
//
// [Parse] is strict. It refuses unknown and repeated fields, anchors, and whatever would loosen a built-in tier, and it
// reports every fault with file and line. The JSON Schema of the file is [Schema]; a test holds both readers to the
// same corpus.
//
// Start with deployment.go. tiers.go holds the rules for tiers, document.go the YAML. Main packages and their wiring
// import this package; package policy does not.
package deployment
