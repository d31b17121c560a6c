// Package contract holds a CloudFormation template against what the deployment promises: least privilege, encryption,
// TLS, no public access, bounded and logged functions, no secret in the open. It reads the template's text alone; no
// account is asked. It knows the resource types that this deployment uses and looks at every branch of every condition.
package contract
