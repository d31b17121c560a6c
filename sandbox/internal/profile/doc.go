// Package profile turns the sampled stacks of a guest into a flame profile.
package profile
