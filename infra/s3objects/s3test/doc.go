// Package s3test runs a real S3-protocol server for tests: versitygw, built once from the tool module beside it and
// started as a child. It stores and checks CRC32, honours If-None-Match and Object Lock, keeps versions, and refuses
// wrong credentials.
package s3test
