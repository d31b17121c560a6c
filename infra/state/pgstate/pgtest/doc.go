// Package pgtest runs a Postgres server for tests, from the binaries that Debian's package postgresql installs,
// and PgBouncer in front of it if that is installed, too. Only tests import it. Start with [Start].
package pgtest
