// Package hostops is the interface between a guest and the Go code that works for it. An operation ([Op]) is a Go
// function that the guest calls by name: a hash, a URL, a read of a file. It reaches its arguments, the limits of the
// run and the run's memory through a [Call], and the run itself only through [Env].
//
// Arguments come from hostile memory. An operation checks them, charges what it copies or builds before it allocates,
// and announces its work before it does it, so that the limits of a run hold while the host works for the guest.
//
// The operations themselves are in the packages below: web (text, URLs, forms), crypto (WebCrypto), node (Node's
// modules), compress (compression streams and zlib) and intl. Each exports Ops, its operations by name. Packages egress
// and vfs have operations too. Only code below package sandbox imports these packages. Start with [Op].
package hostops
