// Package governance connects an execution with the policy and the audit record. The gateway and the function both ask
// the policy, refuse executions and write records; they do so by the same rules because both use this package.
//
// Start with [PolicyRequest]. Packages of gateway, functions/runner and functions/process import this package. It
// imports functions/execution, policy and policy/audit.
package governance
