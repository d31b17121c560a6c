// Package ratelimit counts the requests of each caller over a sliding window.
//
// The window is cut into 64 slices. A request counts from its slice until that slice has left the window entirely, so
// no window of the given length ever holds more than the limit, and a caller waits at most a 64th longer than an exact
// log would have made it wait. A caller costs some 400 bytes; how many are remembered is bounded. Those below their limit
// are forgotten first, and of these the one seen least recently.
//
// [Limiter] counts in this process; [Shared] counts in Redis or Valkey for many gateways together, and falls back to
// counting in this process while the server is down. [Quotas] counts for whole tenants, each with limits of its own.
// [Logins] bounds how often
// credentials can be guessed.
package ratelimit
