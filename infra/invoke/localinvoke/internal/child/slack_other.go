//go:build !linux

package child

func setSlack() {}

func resetSlack() {}
