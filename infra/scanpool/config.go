package scanpool

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
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
	c.Workers, c.MaxAnswer, c.Patience = cmp.Or(c.Workers, 2), cmp.Or(c.MaxAnswer, 16<<20), cmp.Or(c.Patience, 10)
	c.StartTimeout, c.RenewAfter = cmp.Or(c.StartTimeout, 10*time.Second), cmp.Or(c.RenewAfter, 30*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	var wrong []string
	for name, negative := range map[string]bool{
		"Workers": c.Workers < 0, "MaxAnswer": c.MaxAnswer < 0, "Patience": c.Patience < 0,
		"StartTimeout": c.StartTimeout < 0, "RenewAfter": c.RenewAfter < 0,
	} {
		if negative {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return c, fmt.Errorf("scan pool: these must not be negative: %s", strings.Join(wrong, ", "))
	}
	return c, nil
}
