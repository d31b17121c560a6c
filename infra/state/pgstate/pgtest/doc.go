// Package pgtest runs a Postgres server for tests, from the binaries that Debian's package postgresql installs. Only
// tests import it. Start with [Start].
package pgtest
