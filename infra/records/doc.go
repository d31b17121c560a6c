// Package records opens the audit store that a URL names: file:///folder or s3://bucket/prefix. A bucket's URL may have
// options, as in s3://bucket/prefix?kms=alias/records&lock=compliance&retain=90d&spool=/var/spool/airlock:
//
//	kms          encrypts with this KMS key (ID, ARN or alias; "aws" is the account's) and not by the bucket's default
//	lock         locks every record, governance or compliance, for as long as retain says ("90d", "36h")
//	class        storage class, such as STANDARD_IA
//	tag          name:value on every object, for lifecycle rules; up to ten times
//	spool        folder that keeps records while S3 is unavailable; it must outlive the process
//	spool-bytes  size of the spool
//
// The stores are in packages filerecords and s3records, the index in auditindex, the anchors in anchors. Packages
// wiring, cli and process import this one. Start with [Open].
package records
