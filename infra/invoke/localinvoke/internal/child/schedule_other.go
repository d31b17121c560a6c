//go:build !linux

package child

func setSchedule() {}
