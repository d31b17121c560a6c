// Package egress makes HTTP clients for calls to addresses that callers chose. Such a call reaches public addresses only;
// the check is made on the address that is about to be connected to, after names were resolved, so that no answer of a
// name server leads around it. What the deployment opened by name may be private.
package egress
