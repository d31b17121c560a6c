// Package profile turns the sampled stacks of a guest into a flame profile. Only package sandbox imports it. Start with
// [Profile.Add].
package profile
