// Package meter counts what the gateway does: totals since the start, and the last executions in detail.
package meter
