package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	client "github.com/airlock-run/airlock/gateway/client/go"
	"github.com/airlock-run/airlock/gateway/httpconn"
	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/policy/outbound"
)

// doctorCommand checks what airlock serve needs.
func doctorCommand(con terminal.Console) *cobra.Command {
	var at gatewayFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check settings and machine, and suggest fixes",
		Long: "Check what airlock serve needs: the settings and their spelling, the policy, the port, the limit of open\n" +
			"files, the record store, the folder of functions and jobs, the cache of the compiled engine, Redis if\n" +
			"REDIS_URL is set, an execution in a function process, and the kernel's walls around it.\n" +
			"\n" +
			"With --server check a running gateway instead: its address and version, whether it is ready, and an execution\n" +
			"with your credential, which leaves an audit record there.\n" +
			"\n" +
			"Exit codes: 0 all checks pass, 5 a check fails and says what to do.",
		Example: "  airlock doctor\n  HOST=0.0.0.0 airlock doctor\n  airlock doctor --server https://airlock.example.com",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := terminal.Interruptible(cmd.Context())
			defer stop()
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if at.server == "" {
				return examine(ctx, con, machineChecks(con))
			}
			checks, err := serverChecks(con, at)
			if err != nil {
				return err
			}
			return examine(ctx, con, checks)
		},
	}
	cmd.Flags().StringVar(&at.server, "server", "", "check this gateway, such as https://airlock.example.com")
	cmd.Flags().StringVar(&at.token, "token", "", "with --server: token or API key for it (AIRLOCK_TOKEN)")
	return cmd
}

// check is one check. look returns what it found, or an error that says what to do.
type check struct {
	name string
	look func(context.Context) (found string, err error)
}

// machineChecks returns the checks of the settings and of this machine.
func machineChecks(con terminal.Console) []check {
	set, wrong := settings.Read(con.Getenv, time.Now)
	checks := []check{
		{"settings", func(context.Context) (string, error) { return "every variable is valid", wrong }},
		{"spelling", func(context.Context) (string, error) {
			return "no variable looks misspelt", errors.Join(misspeltErrors(os.Environ())...)
		}},
	}
	if wrong == nil {
		checks = append(checks,
			check{"policy", func(context.Context) (string, error) { return lookAtPolicy(con.Getenv) }},
			check{"packages", func(ctx context.Context) (string, error) {
				return lookAtPackages(ctx, con.Getenv)
			}},
			check{"port", func(ctx context.Context) (string, error) { return lookAtPort(ctx, set) }},
			check{"files", func(context.Context) (string, error) { return lookAtFiles(httpconn.OpenFiles()) }},
			check{"records", func(ctx context.Context) (string, error) { return lookAtStore(ctx, set) }},
			check{"state", func(ctx context.Context) (string, error) { return lookAtState(ctx, con.Getenv, set) }},
			check{"cache", func(context.Context) (string, error) { return lookAtCache(con.Getenv) }},
			check{"mcp", func(ctx context.Context) (string, error) { return lookAtRemoteTools(ctx, con.Getenv, set) }},
			check{"redis", func(ctx context.Context) (string, error) { return lookAtRedis(ctx, set) }},
			check{"functions", func(ctx context.Context) (string, error) { return lookAtFunctions(ctx, con, set) }},
		)
	}
	return checks
}

// examine prints what each check finds.
func examine(ctx context.Context, con terminal.Console, checks []check) error {
	bad := 0
	for _, c := range checks {
		done := con.Progress("looking at " + c.name)
		found, err := c.look(ctx)
		done()
		mark, text := con.Paint(con.Stdout, terminal.Green, "ok  "), found
		if err != nil {
			bad++
			mark, text = con.Paint(con.Stdout, terminal.Red, "FAIL"), strings.Join(terminal.ErrorLines(err), "\n")
		}
		if _, err := fmt.Fprintf(con.Stdout, "%s %-10s %s\n", mark, c.name,
			strings.ReplaceAll(text, "\n", "\n                ")); err != nil {
			return exit.With(exit.Platform, err)
		}
	}
	if bad > 0 {
		return exit.With(exit.Platform, fmt.Errorf("%d of %d checks failed", bad, len(checks)))
	}
	return nil
}

func lookAtPolicy(getenv func(string) string) (string, error) {
	set, text, err := process.ReadRules(getenv)
	if err != nil {
		return "", err
	}
	found := fmt.Sprintf("%d tiers, %d open hosts", len(set.Tiers()), len(set.Hosts()))
	if text == nil {
		found += "; the built-in policy: AIRLOCK_POLICY_FILE is not set"
	}
	return found, nil
}

// lookAtPackages checks every archive of the packages that code may import.
func lookAtPackages(ctx context.Context, getenv func(string) string) (string, error) {
	getenv, err := process.PullPackages(ctx, getenv)
	if err != nil {
		return "", err
	}
	store, err := process.OpenPackages(getenv)
	if err == nil {
		err = store.Check()
	}
	if err != nil {
		return "", fmt.Errorf("%w; add the packages again with airlock packages add", err)
	}
	return fmt.Sprintf("%d packages, every archive is as the lock says", len(store.List())), nil
}

// misspeltErrors returns the warnings of settings.Misspelt as errors.
func misspeltErrors(environ []string) []error {
	var wrong []error
	for _, line := range settings.Misspelt(environ) {
		wrong = append(wrong, errors.New(line))
	}
	return wrong
}

// lookAtRemoteTools asks the attached MCP servers for their tools.
func lookAtRemoteTools(
	ctx context.Context, getenv func(string) string, set settings.Settings,
) (string, error) {
	n, err := wiring.CheckRemoteTools(ctx, getenv, set)
	switch {
	case err != nil:
		return "", errors.Join(err, errors.New("code gets the same error when it calls such a tool; the hosts of "+
			"EGRESS_ALLOW and of the policy file can be reached"))
	case n == 0:
		return "none: MCP_SERVERS is not set", nil
	}
	return fmt.Sprintf("%d servers list their tools", n), nil
}

// lookAtState opens what airlock serve keeps functions and jobs in.
func lookAtState(ctx context.Context, getenv func(string) string, set settings.Settings) (string, error) {
	build, err := process.EngineBuild(getenv)
	if err != nil {
		return "", err
	}
	switch name := settings.StateName(set.State); {
	case set.State == "":
		return "none: functions, jobs and schedules are refused", nil
	case settings.IsShared(set.State):
		others, err := wiring.CheckState(ctx, set, build)
		if err != nil {
			return "", fmt.Errorf("%w; check %s, and that its user may write", err, name)
		}
		return withOthers(name+" can be written", others), nil
	}
	if err := os.MkdirAll(set.State, 0o700); err != nil {
		return "", fmt.Errorf("AIRLOCK_STATE: %w; set it to a folder that this user can write", err)
	}
	probe, err := os.CreateTemp(set.State, ".doctor-")
	if err != nil {
		return "", fmt.Errorf("AIRLOCK_STATE: %w; set it to a folder that this user can write", err)
	}
	found, others := set.State+" can be written", ""
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return found, err
	}
	if others, err = wiring.CheckFolder(ctx, set.State, build); err != nil {
		return "", fmt.Errorf("AIRLOCK_STATE: %w", err)
	}
	return withOthers(found, others), nil
}

// withOthers appends a sentence about paused executions of other engine builds, if there is one.
func withOthers(found, others string) string {
	if others == "" {
		return found
	}
	return found + "\n" + others
}

// lookAtPort checks that the port is free, or that a gateway is what listens there.
func lookAtPort(ctx context.Context, set settings.Settings) (string, error) {
	l, err := net.Listen("tcp", set.Address())
	if err == nil {
		return set.Address() + " is free", l.Close()
	}
	if version, err := gatewayAt(ctx, "http://"+set.Address()); err == nil {
		return set.Address() + " is in use by a running gateway, version " + version, nil
	}
	return "", wiring.ListenError(set, err)
}

// fewestFiles is how many open files a gateway needs: for its stores and pipes, and some connections.
const fewestFiles = 256

// lookAtFiles checks the number of files that a process may have open; 0 is unknown.
func lookAtFiles(open int) (string, error) {
	switch {
	case open == 0:
		return "this system does not tell how many may be open", nil
	case open < fewestFiles:
		return "", fmt.Errorf("only %d files may be open, and a gateway needs %d; raise the limit, with ulimit -n 65536 "+
			"in a shell or LimitNOFILE=65536 in a unit of systemd", open, fewestFiles)
	}
	return fmt.Sprintf("%d may be open, %d of them connections", open, httpconn.MaxConnections(open)), nil
}

func lookAtStore(ctx context.Context, set settings.Settings) (string, error) {
	store, err := set.Records.Open(ctx, set.AuditStore, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	return set.AuditStore + " can be written", store.Close()
}

func lookAtCache(getenv func(string) string) (string, error) {
	executable, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir := process.CacheDir(getenv, executable)
	if dir == "" {
		return "none: each function process compiles the engine when it starts; set AIRLOCK_CACHE_DIR to a folder to " +
			"start faster", nil
	}
	if err := process.CheckCache(dir, executable); err != nil {
		return "", err
	}
	if filepath.Dir(dir) == filepath.Dir(executable) {
		return dir + " came with the program", nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("%w; set AIRLOCK_CACHE_DIR to a folder that this user can write", err)
	}
	probe, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return "", fmt.Errorf("%w; set AIRLOCK_CACHE_DIR to a folder that this user can write", err)
	}
	return dir + " is writable by this user only", errors.Join(probe.Close(), os.Remove(probe.Name()))
}

func lookAtRedis(ctx context.Context, set settings.Settings) (string, error) {
	if set.Rate.Redis == "" {
		return "not used: REDIS_URL is not set, and this gateway counts limits alone", nil
	}
	redis.SetLogger(wiring.RedisLog{Log: slog.New(slog.DiscardHandler)}) // the error below is reported
	client, err := wiring.RedisClient(set.Rate.Redis)
	if err != nil {
		return "", err
	}
	defer func() { _ = client.Close() }() // it only read
	if err := client.Ping(ctx).Err(); err != nil {
		return "", fmt.Errorf("REDIS_URL: %w; until it answers, each gateway counts limits alone", err)
	}
	return "answers", nil
}

// lookAtFunctions runs an execution in a function process. Its record goes to a temporary folder, because the store
// is for callers' executions.
func lookAtFunctions(ctx context.Context, con terminal.Console, set settings.Settings) (found string, err error) {
	confined := wiring.WatchWalls(slog.DiscardHandler)
	in, err := wiring.OpenInputs(ctx, con.Getenv, set, slog.New(confined))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if set.Invoker == "lambda" {
		fleet, err := in.OpenFleet(ctx)
		if err != nil {
			return "", err
		}
		if err := fleet.Ready(ctx); err != nil {
			return "", fmt.Errorf("LAMBDA_FUNCTION: %w", errors.Join(err, errors.Unwrap(err)))
		}
		return fleet.Where, nil
	}
	scratch, err := os.MkdirTemp("", "airlock-doctor-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	pool, err := in.OpenPool(ctx, "file://"+scratch, func(cfg *localinvoke.Config) {
		cfg.Processes, cfg.Spare = 1, 0
	})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, pool.Close(context.WithoutCancel(ctx))) }()
	began := time.Now()
	reply, err := pool.Invoke(ctx, execution.Invocation{
		Airlock: execution.InvocationVersion, ID: wiring.NewID(), Request: execution.Request{Code: "6 * 7"},
		Via: execution.ViaCLI, ReceivedAt: began,
	}, nil)
	switch {
	case err != nil:
		return "", err
	case string(reply.Result.Result) != "42" || !reply.Recorded:
		return "", fmt.Errorf("6 * 7 gives %s, status %s, and the record is written: %t", reply.Result.Result,
			reply.Result.Status, reply.Recorded)
	}
	found = fmt.Sprintf("6 * 7 is 42 after %s, %s", time.Since(began).Round(100*time.Microsecond),
		confined.First(time.Second))
	others, err := process.ReadEngines(con.Getenv)
	if err != nil {
		return "", err
	}
	for _, engine := range others.On {
		reply, err := pool.Invoke(ctx, execution.Invocation{
			Airlock: execution.InvocationVersion, ID: wiring.NewID(), Via: execution.ViaCLI, ReceivedAt: time.Now(),
			Request: execution.Request{Code: "6 * 7", Engine: engine},
		}, nil)
		if err != nil {
			return "", fmt.Errorf("engine %s: %w", engine, err)
		}
		if string(reply.Result.Result) != "42" {
			return "", fmt.Errorf("engine %s: 6 * 7 gives %s, status %s", engine, reply.Result.Result, reply.Result.Status)
		}
		found += fmt.Sprintf("\nengine %s: %s", engine, reply.Result.EngineBuild)
	}
	for _, e := range pool.Engines() {
		found += fmt.Sprintf("\nmemory of engine %s: %.1f MiB, and %.1f MiB for each process that waits", e.Name,
			float64(e.TemplateBytes)/(1<<20), float64(e.ProcessBytes)/(1<<20))
	}
	return found, nil
}

// serverChecks returns the checks of a gateway that runs at an address.
func serverChecks(con terminal.Console, at gatewayFlags) ([]check, error) {
	c, err := at.client(con)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(at.server, "/")
	return []check{
		{"gateway", func(ctx context.Context) (string, error) {
			version, err := gatewayAt(ctx, base)
			if err != nil {
				return "", fmt.Errorf("%w; check the address, and that the gateway runs", err)
			}
			return base + " is a gateway, version " + version, nil
		}},
		{"ready", func(ctx context.Context) (string, error) { return lookAtReady(ctx, base) }},
		{"execution", func(ctx context.Context) (string, error) { return lookAtExecution(ctx, c) }},
	}, nil
}

// gatewayAt returns the version of the gateway at a URL.
func gatewayAt(ctx context.Context, base string) (version string, err error) {
	var document struct {
		Info struct{ Title, Version string }
	}
	status, err := read(ctx, base+"/openapi.json", &document)
	switch {
	case err != nil:
		return "", err
	case status != http.StatusOK || document.Info.Title != "Airlock":
		return "", fmt.Errorf("%s is not a gateway: /openapi.json returns status %d", base, status)
	}
	return document.Info.Version, nil
}

// lookAtReady asks a gateway whether every part that it needs can be used.
func lookAtReady(ctx context.Context, base string) (string, error) {
	var parts map[string]any
	status, err := read(ctx, base+"/readyz", &parts)
	switch {
	case err != nil:
		return "", err
	case status != http.StatusOK:
		return "", fmt.Errorf("/readyz returns status %d: %v", status, parts["detail"])
	}
	delete(parts, "status")
	var names []string
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		names = append(names, fmt.Sprintf("%s %v", name, parts[name]))
	}
	return strings.Join(names, ", "), nil
}

// lookAtExecution runs an execution with the credential of the flags. It leaves an audit record, as every execution.
func lookAtExecution(ctx context.Context, c *client.Client) (string, error) {
	began := time.Now()
	result, err := c.Execute(ctx, execution.Request{Code: "6 * 7"})
	problem := (*client.Problem)(nil)
	switch {
	case errors.As(err, &problem) && problem.Status == http.StatusUnauthorized:
		return "", fmt.Errorf("%w; set AIRLOCK_TOKEN or --token", err)
	case err != nil:
		return "", err
	case string(result.Result.Result) != "42":
		return "", fmt.Errorf("6 * 7 is %s, status %s", result.Result.Result, result.Status)
	}
	return fmt.Sprintf("6 * 7 is 42 after %s; its record is %s", time.Since(began).Round(100*time.Microsecond), result.ID),
		nil
}

// read decodes a JSON document of a gateway, whatever its status. It sends no credential.
func read(ctx context.Context, address string, into any) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	res, err := outbound.Limits{Body: 4 << 20, Total: 5 * time.Second}.Client(outbound.Options{
		Proxy: http.ProxyFromEnvironment,
	}).Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }() // what is needed of it was read
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		return res.StatusCode, fmt.Errorf("%s returns status %d and no JSON", address, res.StatusCode)
	}
	return res.StatusCode, nil
}
