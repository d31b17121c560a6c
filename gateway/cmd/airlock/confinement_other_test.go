//go:build !linux

package main

import (
	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
)

// tryAttempts tries nothing here.
func tryAttempts(run events.Run, _ *sealed.Outside) events.Run { return run }
