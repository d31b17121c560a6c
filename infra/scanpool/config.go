package scanpool

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// Config configures a Pool. The zero value of every field means its default.
type Config struct {
	// Command is the program and its arguments. Default: this program with the argument "scanner".
	Command []string
	// Env is the whole environment of the workers, as "NAME=value". Default none.
	Env []string
	// Workers is the number of concurrent tasks; more wait. Default 2.
	Workers int
	// MaxAnswer is the size of an answer in bytes above which its worker is killed. Default 16 MiB.
	MaxAnswer int
	// Patience is the ratio of wall time to processor time that a task may take, on a busy machine. Default 10.
	Patience int
	// StartTimeout bounds the start of a worker. Default 10 s.
	StartTimeout time.Duration
	// RenewAfter is the processor time after which a worker is replaced between two tasks. Default 30 s.
	RenewAfter time.Duration
	// Logger receives the workers that were killed or failed. Default: nothing is logged.
	Logger *slog.Logger
}

func (c Config) checked() (Config, error) {
	if len(c.Command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return c, fmt.Errorf("find this program: %w", err)
		}
		c.Command = []string{self, "scanner"}
	}
	c.Workers, c.MaxAnswer, c.Patience = or(c.Workers, 2), or(c.MaxAnswer, 16<<20), or(c.Patience, 10)
	c.StartTimeout, c.RenewAfter = or(c.StartTimeout, 10*time.Second), or(c.RenewAfter, 30*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if min(c.Workers, c.MaxAnswer, c.Patience) < 1 || min(c.StartTimeout, c.RenewAfter) < 0 {
		return c, errors.New("scan pool: a count, duration or size is negative")
	}
	return c, nil
}

func or[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}
