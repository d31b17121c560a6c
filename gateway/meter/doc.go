// Package meter counts what the gateway does since it started, and exposes to Prometheus the counts (prometheus.go),
// the function processes of this machine (fleet.go) and the storage of the state (storage.go).
//
// It knows no handlers; any package of the gateway may import it. Start with [Meter].
package meter
