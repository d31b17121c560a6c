// Package statetest is the conformance suite of what keeps jobs and schedules: whoever runs them must find the same
// promises, on one machine's disk and in a bucket that many share.
package statetest
