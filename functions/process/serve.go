package process

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/infra/handover"
	"github.com/airlock-run/airlock/infra/lockdown"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
)

// gcPercent is GOGC. An execution leaves some ten kilobytes of garbage, in a process that has little of its own in memory:
// collecting half as often as Go would costs a few megabytes.
const gcPercent = 200

// Serve opens everything, locks the process down, and serves invocations until the process ends. It returns only with
// an error, which names what could not be opened. stdin carries the ids of cancelled executions, one a line; stderr is
// the log, one JSON object a line.
func Serve(ctx context.Context, getenv func(string) string, stdin io.Reader, stderr io.Writer) error {
	// One execution at a time needs one processor. More of them cost a third of a millisecond an execution, in threads
	// that wake each other and spin.
	runtime.GOMAXPROCS(1)
	startup := Startup{Began: time.Now()}
	log := slog.New(slog.NewJSONHandler(stderr, nil))
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	set, err := ReadSettings(getenv, executable)
	if err != nil {
		return err
	}
	// What starting leaves as garbage is thrown away at once, below: collecting it on the way would take half as long again.
	debug.SetGCPercent(-1)
	run, err := open(ctx, set, log, &startup)
	debug.SetGCPercent(gcPercent)
	if err != nil {
		return err
	}
	adapter, err := adapted(set, log)
	if err != nil {
		return err
	}
	options := []events.Option{events.CancelFrom(stdin), events.Logger(log), events.Adapted(adapter)}
	if set.Handover != "" {
		store, err := handover.Open(ctx, set.Handover, set.Records.S3Endpoint)
		if err != nil {
			return fmt.Errorf("HANDOVER_STORE: %w", err)
		}
		options = append(options, events.HandedOver(store.Get))
	}
	start := recordStartUp()
	walls, err := lockdown.Enforce(confinement(set))
	if err != nil {
		return fmt.Errorf("lock the process down: %w", err)
	}
	log.Info("function process ready", "walls", walls.Standing, "missing", walls.Missing, "startup", startup.ready())
	// That garbage is many times what a function at work ever has: give the memory back, while nobody waits.
	go start.giveBack()
	events.Serve(run.Run, options...)
	return nil
}

// open opens the sandbox, the policy and the record store of set, and gives the runner over them. They stay open until
// the process ends.
func open(ctx context.Context, set Settings, log *slog.Logger, startup *Startup) (*runner.Runner, error) {
	redactor, err := set.Records.Redactor(set.secrets()...)
	if err != nil {
		return nil, err
	}
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: set.CacheDir})
	if err != nil {
		return nil, fmt.Errorf("build the sandbox: %w", err)
	}
	startup.engine(engine.Startup())
	store, err := set.Records.Open(ctx, set.Store, log)
	if err != nil {
		return nil, err
	}
	return runner.New(runner.Config{
		Sandbox: engine, Policy: set.Rules, Records: store, MaxMemoryBytes: set.MemoryBytes,
		KeepCode: set.Records.KeepCode, Secret: set.Secret, Attached: attached(set), Redact: redactor.Apply, Log: log,
	})
}

// secrets are the values of the secrets that the policy and the attached servers name.
func (s Settings) secrets() []string {
	var values []string
	for _, name := range s.Rules.Secrets() {
		values = append(values, s.Secret(name))
	}
	for _, server := range s.Attached {
		values = append(values, s.Secret(server.Secret))
	}
	return values
}

// confinement is what a process with these settings still needs once it is open: its records, the Runtime API, and the
// network where a tier grants it or the records are elsewhere. The compiled engine is in memory by then.
func confinement(set Settings) lockdown.Config {
	away := strings.HasPrefix(set.Store, "s3://") || set.Handover != ""
	cfg := lockdown.Config{Network: away || networked(set)}
	if set.RecordDir != "" {
		cfg.Write = []string{set.RecordDir}
	}
	if away && set.TokenDir != "" {
		cfg.Read = []string{set.TokenDir}
	}
	address, _, _ := strings.Cut(set.RuntimeAPI, "/")
	if at, err := netip.ParseAddrPort(address); err == nil {
		cfg.Ports = []uint16{at.Port()}
	} else {
		cfg.Network = true // a name: it has to be resolved first
	}
	return cfg
}

// networked reports whether any tier lets code reach the network, or tools of attached servers.
func networked(set Settings) bool {
	if len(set.Attached) > 0 {
		return true
	}
	for _, tier := range set.Rules.Tiers() {
		if tier.Network == policy.NetworkPublic || tier.Network == policy.NetworkAllowlist && len(set.Rules.Hosts()) > 0 {
			return true
		}
	}
	return false
}
