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
	"github.com/airlock-run/airlock/infra/invoke/handover"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
	"github.com/airlock-run/airlock/infra/lockdown"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
)

// gcPercent is GOGC. An execution leaves some ten kilobytes of garbage in a small heap: collecting half as often as
// Go's default costs a few megabytes.
const gcPercent = 200

// goMemory is the heap size at which the collector stops waiting: preparing large code must not be charged for
// garbage.
const goMemory = 192 << 20

// A Wrap replaces the func that runs invocations in an open and locked-down process. outside is nil if the process is
// not sealed. Tests use it to try what a process can reach.
type Wrap func(run events.Run, outside *sealed.Outside) events.Run

// Serve opens everything, locks the process down and serves invocations until the process ends. It returns only with
// an error that names what could not be opened. stdin carries the IDs of cancelled executions, one per line; stderr
// is the log, one JSON object per line.
func Serve(ctx context.Context, getenv func(string) string, stdin io.Reader, stderr io.Writer, wraps ...Wrap) error {
	// One execution at a time needs one processor. More cost a third of a millisecond per execution, in threads that
	// wake each other and spin.
	runtime.GOMAXPROCS(1)
	startup := Startup{Began: time.Now()}
	log := slog.New(slog.NewJSONHandler(stderr, nil))
	set, err := settingsOf(ctx, getenv, log)
	if err != nil {
		return err
	}
	var (
		link    *sealed.Function
		outside *sealed.Outside
	)
	if set.Sealed {
		if link, outside, err = sealed.Inherited(); err != nil {
			return fmt.Errorf("airlock serve starts function processes; they cannot be started by hand: %w", err)
		}
		set.Secret = outside.Secret
	}
	// The garbage of the start is released at once, below. Collecting it meanwhile would take half as long again.
	debug.SetGCPercent(-1)
	rules := newBoundedRules(set.Rules)
	run, engine, err := open(ctx, set, rules, link, outside, log, &startup)
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(goMemory)
	if err != nil {
		return err
	}
	options, err := optionsOf(ctx, set, stdin, log)
	if err != nil {
		return err
	}
	start := recordStartUp()
	walls, err := lockdown.Enforce(confinement(set))
	if err != nil {
		return fmt.Errorf("lock the process down: %w", err)
	}
	log.Info("function process ready", "walls", walls.Standing, "missing", walls.Missing, "startup", startup.ready())
	// The start leaves far more garbage than a function ever has: release it while nobody waits.
	go start.giveBack()
	serve := events.Run(run.Run)
	if link != nil {
		serve = scannedByOwner(run.Run)
	}
	for _, wrap := range wraps {
		serve = wrap(serve, outside)
	}
	spent := func() bool {
		is := engine.Spent() || rules.Spent()
		if is {
			log.Warn("reading or preparing the code of an execution outlived it and cannot be stopped; this process exits to " +
				"be replaced")
		}
		return is
	}
	if link != nil {
		return link.Serve(ctx, events.NewHandler(serve, options...).Answer, spent)
	}
	events.Serve(serve, append(options, events.ExitWhen(spent, func() { os.Exit(0) }))...)
	return nil
}

// settingsOf reads the settings of this process, copies the packages that they name in a bucket, and checks the cache
// folder.
func settingsOf(ctx context.Context, getenv func(string) string, log *slog.Logger) (Settings, error) {
	executable, err := os.Executable()
	if err != nil {
		return Settings{}, fmt.Errorf("find this program: %w", err)
	}
	if getenv, err = PullPackages(ctx, getenv); err != nil {
		return Settings{}, err
	}
	set, err := ReadSettings(getenv, executable)
	if err != nil {
		return set, err
	}
	set.Packages.Report(log)
	if !set.Sealed {
		return set, nil // on Lambda the cache is a part of the function
	}
	return set, CheckCache(set.CacheDir, executable)
}

// optionsOf returns the options of the handler that the settings decide.
func optionsOf(ctx context.Context, set Settings, stdin io.Reader, log *slog.Logger) ([]events.Option, error) {
	adapter, err := adapted(set, log)
	if err != nil {
		return nil, err
	}
	options := []events.Option{events.CancelFrom(stdin), events.Logger(log), events.Adapted(adapter)}
	if set.Handover == "" {
		return options, nil
	}
	store, err := handover.Open(ctx, set.Handover, set.Records.S3Endpoint)
	if err != nil {
		return nil, fmt.Errorf("HANDOVER_STORE: %w", err)
	}
	return append(options, events.HandedOver(store.Get)), nil
}

// open opens the sandbox, the policy and the record store, and returns the runner over them. They stay open until the
// process ends. A sealed process has link and outside instead of a store and a network.
func open(
	ctx context.Context, set Settings, rules *boundedRules, link *sealed.Function, outside *sealed.Outside,
	log *slog.Logger, startup *Startup,
) (*runner.Runner, *sandbox.Engine, error) {
	cfg := sandbox.Config{CacheDir: set.CacheDir, EngineBuild: set.EngineBuild}
	if set.Sealed {
		cfg.Egress, cfg.Processes = egressOf(set, outside), lentEngines{outside}
	}
	engine, err := sandbox.New(ctx, cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("build the sandbox: %w", err)
	}
	if err := openImages(ctx, engine, set); err != nil {
		return nil, nil, err
	}
	startup.engine(engine.Startup())
	how := runner.Config{
		Sandbox: engine, Policy: rules, MaxMemoryBytes: set.MemoryBytes, Secret: set.Secret, RemoteTools: remoteTools(set),
		Packages:    set.Packages.Packages,
		Log:         log,
		EngineBuild: set.EngineBuild, OpenBuild: new(OtherBuilds).Open, // no cache: the process is locked down by then
	}
	if set.Sealed {
		how.Records, how.KeepCode = link, set.Records.KeepCode // the owner redacts
		how.CallTool = outside.CallTool
		run, err := runner.New(how)
		return run, engine, err
	}
	redactor, err := set.Records.Redactor(set.secrets()...)
	if err != nil {
		return nil, nil, err
	}
	store, err := set.Records.Open(ctx, set.Store, log)
	if err != nil {
		return nil, nil, err
	}
	how.Records, how.KeepCode, how.Redact = store, set.Records.KeepCode, redactor.Apply
	run, err := runner.New(how)
	return run, engine, err
}

// egressOf returns the egress of a sealed process, which connects through the owner. It opens the root certificates
// now, because later there are no files.
func egressOf(set Settings, outside *sealed.Outside) sandbox.Egress {
	e := sandbox.Egress{Connect: outside.Connect}
	if networked(set) {
		e.LoadRootCAs = systemRoots()
	}
	return e
}

// secrets returns the values of the secrets that the policy and the MCP servers name.
func (s Settings) secrets() []string {
	var values []string
	for _, name := range s.Rules.Secrets() {
		values = append(values, s.Secret(name))
	}
	for _, server := range s.RemoteTools {
		values = append(values, s.Secret(server.Secret))
	}
	return values
}

// confinement returns what an open process still needs: its records, the Runtime API, and the network if a tier
// grants it or the records are remote. The compiled engine is in memory by then.
func confinement(set Settings) lockdown.Config {
	if set.Sealed {
		return lockdown.Config{Sealed: true}
	}
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

// networked reports whether a tier lets code reach the network, or tools anywhere.
func networked(set Settings) bool {
	if len(set.RemoteTools)+len(set.Rules.Hosts()) > 0 {
		return true
	}
	for _, tier := range set.Rules.Tiers() {
		if tier.Network == policy.NetworkPublic {
			return true
		}
	}
	return false
}
