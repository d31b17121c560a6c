package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// runFlags are those of airlock run.
type runFlags struct {
	code, policy, language, input, store string
	timeout                              wallTime
	json                                 bool
}

// runCommand runs a script in this process, without a gateway.
func runCommand(con console) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE | - | -e CODE",
		Short: "Run a script in the sandbox, here and now",
		Long: "Run a script in the sandbox of this process: a file, standard input (-), or the code after -e.\n" +
			"The console is printed as it happens, then the result as JSON. EGRESS_ALLOW opens hosts. The execution is\n" +
			"recorded where --store or AUDIT_STORE says so.\n\n" +
			"Exit codes: 0 completed, 1 the code failed, 2 usage, 3 blocked by policy, 4 a limit ended it, 5 the platform failed.",
		Example: "  airlock run script.ts --policy strict --input '{\"n\": 3}'\n" +
			"  airlock run -e 'input.n * 2' --input '{\"n\": 21}'\n" +
			"  cat script.js | airlock run - --json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := f.request(con.stdin, args)
			if err != nil {
				return exit(exitUsage, err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return f.run(ctx, con, request)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.code, "eval", "e", "", "the code itself")
	flags.StringVar(&f.policy, "policy", "", "the tier (default standard)")
	flags.StringVar(&f.language, "language", "", "javascript or typescript (default by the file's name)")
	flags.StringVar(&f.input, "input", "", "JSON that the code finds as input")
	flags.Var(&f.timeout, "timeout", "less wall time than the tier gives: milliseconds, or such as 2s")
	flags.BoolVar(&f.json, "json", false, "print the whole execution result as JSON, and nothing else")
	flags.StringVar(&f.store, "store", "", "record into file:///path or s3://bucket/prefix (default AUDIT_STORE, else nowhere)")
	return cmd
}

// request is what the command line asks for, checked as a request over HTTP is.
func (f *runFlags) request(stdin io.Reader, args []string) (execution.Request, error) {
	fields := map[string]any{}
	switch {
	case f.code != "" && len(args) > 0:
		return execution.Request{}, errors.New("give a file or -e, not both")
	case f.code != "":
		fields["code"] = f.code
	case len(args) == 0:
		return execution.Request{}, errors.New("give a file, - for standard input, or -e CODE")
	default:
		text, err := source(stdin, args[0])
		if err != nil {
			return execution.Request{}, err
		}
		fields["code"] = string(text)
	}
	switch {
	case f.language != "":
		fields["language"] = f.language
	case len(args) > 0 && isTypeScript(args[0]):
		fields["language"] = "typescript"
	}
	if f.policy != "" {
		fields["policy"] = f.policy
	}
	if f.input != "" {
		if !json.Valid([]byte(f.input)) {
			return execution.Request{}, errors.New("--input: is not valid JSON; a string needs quotes of its own: '\"text\"'")
		}
		fields["input"] = json.RawMessage(f.input)
	}
	if f.timeout < 0 {
		return execution.Request{}, errors.New("--timeout: must be positive, such as 500ms or 2s")
	}
	if f.timeout > 0 {
		fields["timeout"] = float64(f.timeout) / float64(wallTime(time.Millisecond))
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return execution.Request{}, err
	}
	return execution.DecodeRequest(body)
}

// source reads a script, no further than one may be long.
func source(stdin io.Reader, name string) ([]byte, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, errors.Unwrap(err))
		}
		defer file.Close() //nolint:errcheck // only read
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, execution.MaxCodeBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return text, nil
}

func isTypeScript(name string) bool {
	switch filepath.Ext(name) {
	case ".ts", ".mts", ".cts":
		return true
	}
	return false
}

func (f *runFlags) run(ctx context.Context, con console, request execution.Request) error {
	r, closeRunner, err := localRunner(ctx, con, f.store)
	if err != nil {
		return err
	}
	defer closeRunner()
	var onLog func(execution.Log)
	if !f.json {
		onLog = func(l execution.Log) {
			to := con.stdout
			if l.Level == "warn" || l.Level == "error" {
				to = con.stderr
			}
			_, _ = fmt.Fprintln(to, l.Message)
		}
	}
	result, err := r.Run(ctx, execution.Invocation{
		Airlock: execution.InvocationVersion, ID: newID(), Request: request, Via: execution.ViaCLI, ReceivedAt: time.Now(),
	}, onLog)
	if err != nil {
		return exit(platformCode(err), err)
	}
	if err := f.print(con.stdout, result); err != nil {
		return exit(exitPlatform, fmt.Errorf("print the result: %w", err))
	}
	return outcome(result, f.json)
}

// localRunner puts together what a function process has, for this process.
func localRunner(ctx context.Context, con console, store string) (*runner.Runner, func(), error) {
	rules, _, err := process.ReadRules(con.getenv)
	if err != nil {
		return nil, nil, exit(exitUsage, err)
	}
	keeping, err := process.ReadRecords(con.getenv)
	if err != nil {
		return nil, nil, exit(exitUsage, err)
	}
	secret := func(name string) string { return con.getenv(process.SecretPrefix + name) }
	var values []string
	for _, name := range rules.Secrets() {
		values = append(values, secret(name))
	}
	redactor, err := keeping.Redactor(values...)
	if err != nil {
		return nil, nil, exit(exitUsage, err)
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, nil, exit(exitPlatform, fmt.Errorf("find this program: %w", err))
	}
	var appender audit.Appender = unrecorded{}
	closeStore := func() error { return nil }
	if store == "" {
		store = strings.TrimSpace(con.getenv("AUDIT_STORE"))
	}
	if store != "" {
		opened, err := keeping.Open(ctx, store, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, nil, exit(exitPlatform, fmt.Errorf("open the record store %q: %w", store, err))
		}
		appender, closeStore = opened, opened.Close
	}
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: process.CacheDir(con.getenv, executable)})
	if err != nil {
		return nil, nil, exit(exitPlatform, errors.Join(fmt.Errorf("build the sandbox: %w", err), closeStore()))
	}
	log := slog.New(slog.NewTextHandler(con.stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	closeAll := func() {
		if err := errors.Join(engine.Close(context.WithoutCancel(ctx)), closeStore()); err != nil {
			log.Error("close", "err", err)
		}
	}
	r, err := runner.New(runner.Config{
		Sandbox: engine, Policy: rules, Records: appender, Log: log, KeepCode: keeping.KeepCode,
		Secret: secret, Redact: redactor.Apply,
	})
	if err != nil {
		closeAll()
		return nil, nil, exit(exitPlatform, err)
	}
	return r, closeAll, nil
}

// unrecorded is the store of a run at the command line that names none: its only witness is who typed it.
type unrecorded struct{}

func (unrecorded) Append(context.Context, audit.Record) error { return nil }

func (f *runFlags) print(w io.Writer, result execution.Result) error {
	if f.json {
		text, err := json.MarshalIndent(result, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, string(text))
		return err
	}
	if len(result.Result) == 0 || string(result.Result) == "null" {
		return nil
	}
	_, err := fmt.Fprintln(w, string(result.Result))
	return err
}

// outcome is the exit of an execution. With quiet the reason is not printed: it is in the JSON.
func outcome(result execution.Result, quiet bool) error {
	code := exitGuest
	switch {
	case result.Status == execution.Completed:
		return nil
	case result.Status == execution.Blocked:
		code = exitBlocked
	case result.Limit != nil:
		code = exitLimit
	}
	text := ""
	if !quiet && result.Error != nil {
		text = *result.Error
		if result.Exception != nil && result.Exception.Stack != "" {
			text += "\n" + result.Exception.Stack
		}
	}
	return exit(code, errors.New(text))
}

// platformCode tells a request that is at fault from what is ours.
func platformCode(err error) int {
	var e *execution.Error
	if errors.As(err, &e) && e.Code == execution.InvalidRequest {
		return exitUsage
	}
	return exitPlatform
}

// wallTime is a flag: milliseconds, as in a request, or a duration with its unit.
type wallTime time.Duration

func (w *wallTime) String() string { return time.Duration(*w).String() }

// Type is what the help calls the value.
func (w *wallTime) Type() string { return "time" }

// Set implements pflag.Value.
func (w *wallTime) Set(text string) error {
	if ms, err := strconv.ParseFloat(text, 64); err == nil {
		*w = wallTime(ms * float64(time.Millisecond))
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("must be milliseconds, or a duration such as 500ms or 2s")
	}
	*w = wallTime(d)
	return nil
}
