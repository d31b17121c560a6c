//go:build !linux

package main

import (
	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
)

// within tries nothing here.
func within(run events.Run, _ *sealed.Outside) events.Run { return run }
