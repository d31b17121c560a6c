// Package cputime measures the processor time of guests, by the clock of their thread where the system has one. Only
// package sandbox imports it. Start with [Clock].
package cputime
