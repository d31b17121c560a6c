//go:build !linux

package process

import "runtime/debug"

type startUp struct{}

func recordStartUp() startUp { return startUp{} }

func (startUp) giveBack() { debug.FreeOSMemory() }
