// Package records opens the audit store that a URL names: file:///folder or s3://bucket/prefix. A bucket's URL may go
// on with options, as in s3://bucket/prefix?kms=alias/records&lock=compliance&retain=90d&spool=/var/spool/airlock:
//
//	kms          encrypts with this key of KMS (id, ARN or alias; "aws" is the account's own), not by the bucket's default
//	lock         locks every record, governance or compliance, for as long as retain says ("90d", "36h")
//	class        storage class, such as STANDARD_IA
//	tag          name:value on every object, for lifecycle rules; may be given up to ten times
//	spool        folder that keeps records while S3 is away; it must outlive the process
//	spool-bytes  how much is kept there
package records
