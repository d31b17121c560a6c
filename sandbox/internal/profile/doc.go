// Package profile turns stacks that were sampled while a guest ran into a flame profile.
package profile
