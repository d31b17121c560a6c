// Package cputime measures the processor time of guests, by the clock of their thread where the system has one.
package cputime
