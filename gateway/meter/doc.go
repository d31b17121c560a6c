// Package meter counts what the gateway does since it started.
package meter
