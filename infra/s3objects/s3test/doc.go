// Package s3test runs a real S3 server for tests: versitygw, built once from the module infra/internal/tools and
// started as a child. It stores and checks CRC32, honours If-None-Match and Object Lock, keeps versions, and refuses
// wrong credentials. Only tests import it. Start with [Start].
package s3test
