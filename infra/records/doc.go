// Package records opens the audit store that a URL names: file:///folder or s3://bucket/prefix.
package records
