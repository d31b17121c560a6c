// Package contract checks a CloudFormation template against the promises of the deployment: least privilege,
// encryption, TLS, no public access, bounded and logged functions, no secret in the clear. It reads the template's
// text only and needs no account. It knows the resource types of this deployment and checks every branch of every
// condition. Only tests import it. Start with [Check].
package contract
