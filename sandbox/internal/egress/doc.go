// Package egress is the network of a run. It decides where a request may go, makes the connection to an address that it
// has checked, puts secrets in and takes them out again, and counts the bytes.
//
//	fetch.go    the guest's fetch: requests under way, uploads, bodies
//	client.go   one request with its redirects
//	rules.go    whether the run may reach a URL
//	dial.go     the connection, to a checked address only
//	secrets.go  placeholders for values, both ways
//
// Only packages sandbox and tool import it. The rules about addresses are in policy/address. Start with [Client].
package egress
