// Package testserver starts the servers that tests run as processes of their own. They end with the test. Only the
// packages that run one server each import it; see s3test and pgtest. Start with [Start].
package testserver
