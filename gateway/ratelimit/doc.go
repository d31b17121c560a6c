// Package ratelimit counts the requests of each caller over a sliding window.
//
// The window is cut into 64 slices. A request counts from its slice until that slice has left the window entirely. No
// window of the given length therefore ever holds more than the limit, and a caller waits at most a 64th of a window
// longer than an exact log would have it wait. A caller takes about 400 bytes, and the number of remembered callers
// is bounded: callers below their limit are forgotten first, least recently seen first.
//
// [Limiter] counts in this process. [Shared] counts in Redis or Valkey for many gateways together, and falls back to
// this process while the server is down. [Quotas] count for whole tenants, each with its own limits. [Logins] bounds
// how often credentials can be guessed.
//
// Package access applies all of them to requests. Start with [Limiter].
package ratelimit
