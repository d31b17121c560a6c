package wiring

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// Inputs are the settings, and the files behind them that SIGHUP reloads.
type Inputs struct {
	Getenv   func(string) string
	Settings settings.Settings
	Rules    *Rules
	Tools    *RemoteTools
	Packages *Packages
	Log      *slog.Logger
}

// OpenInputs reads the policy, the packages and the list of MCP servers. It must be closed.
func OpenInputs(ctx context.Context, getenv func(string) string, set settings.Settings, log *slog.Logger) (*Inputs,
	error) {
	original := getenv
	getenv, err := process.PullPackages(ctx, original)
	if err != nil {
		return nil, err
	}
	rules, err := openRules(getenv)
	if err != nil {
		return nil, settings.Wrong(err)
	}
	installed, err := openPackages(getenv, log)
	if err != nil {
		return nil, settings.Wrong(errors.Join(err, rules.Close()))
	}
	installed.original = original
	tools := &RemoteTools{getenv: getenv, list: set.RemoteTools}
	return &Inputs{Getenv: getenv, Settings: set, Rules: rules, Tools: tools, Packages: installed, Log: log}, nil
}

// Close removes temporary copies.
func (in *Inputs) Close() error { return in.Rules.Close() }

// reloadOnHangUp reads the policy file, the MCP servers and the packages again at each SIGHUP, and then replaces the
// processes of fleet, until stop is called. An invalid file changes nothing, and the log says why.
func (in *Inputs) reloadOnHangUp(ctx context.Context, fleet *Fleet) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range signals {
			in.reload(ctx, fleet)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-ended
	}
}

func (in *Inputs) reload(ctx context.Context, fleet *Fleet) {
	before := len(in.Packages.states())
	if err := in.Packages.reload(ctx); err != nil { // new processes would not start
		in.Log.Error("the packages are not valid; nothing is reloaded", "error", err)
		return
	}
	if before == 0 && len(in.Packages.states()) == 0 && !in.Rules.hasFile() && !in.Tools.isSet() {
		in.Log.Warn("neither AIRLOCK_POLICY_FILE nor MCP_SERVERS is set, and there are no packages; there is nothing to " +
			"reload")
		return
	}
	wrong := in.Rules.reload()
	if wrong != nil {
		in.Log.Error("the policy stays as it was", "error", wrong)
	}
	if err := in.Tools.reload(ctx); err != nil {
		in.Log.Error("the MCP servers stay as they were", "error", err)
		wrong = errors.Join(wrong, err)
	}
	fleet.renew()
	if wrong == nil {
		in.Log.Info("reloaded; function processes are replaced when they are idle")
	}
}
