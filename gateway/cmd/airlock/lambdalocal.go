package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
)

func lambdaLocalCommand(con console) *cobra.Command {
	var port int
	var name string
	c := &cobra.Command{
		Use:   "lambda-local",
		Short: "Serve the Lambda API for local functions",
		Long: "Serve the two operations of the AWS Lambda API that invoke functions, with function processes of this machine behind\n" +
			"them, on 127.0.0.1. AWS SDKs and the AWS CLI can call it, and so can airlock serve with INVOKER=lambda and\n" +
			"LAMBDA_ENDPOINT. Signatures are not checked. AUDIT_STORE, SANDBOX_MEMORY_MB, EGRESS_ALLOW, FUNCTION_PROCESSES and\n" +
			"AIRLOCK_CACHE_DIR apply.",
		Example: "  airlock lambda-local\n" +
			"  INVOKER=lambda LAMBDA_FUNCTION=airlock LAMBDA_ENDPOINT=http://127.0.0.1:9001 airlock serve",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := readSettings(con.getenv, time.Now)
			if err != nil {
				return exit(exitUsage, err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return lambdaLocal(ctx, con, set, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), name)
		},
	}
	c.Flags().IntVar(&port, "port", 9001, "port to listen on; 0 picks one")
	c.Flags().StringVar(&name, "name", "airlock", "name of the function")
	return c
}

// lambdaLocal serves until ctx ends.
func lambdaLocal(ctx context.Context, con console, set settings, address, name string) (err error) {
	log := slog.New(slog.NewTextHandler(con.stderr, nil))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return exit(exitPlatform, fmt.Errorf("--port: %w", err))
	}
	defer func() { _ = listener.Close() }() // closed by Serve already, or never used
	policy, err := openRules(con.getenv)
	if err != nil {
		return exit(exitUsage, err)
	}
	defer func() { err = errors.Join(err, policy.close()) }()
	pool, written, err := openPool(ctx, con.getenv, set, policy, set.auditStore, log, func(cfg *localinvoke.Config) {
		cfg.FunctionName = name
		if set.keeping.KeepCode { // what an event asks for only the function knows
			cfg.Env = append(cfg.Env, "AUDIT_CODE=keep")
		}
	})
	if err != nil {
		return exit(exitPlatform, fmt.Errorf("functions: %w", err))
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, pool.Close(closing), written.close())
	}()
	server := &http.Server{Handler: pool.ServiceHandler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	_, _ = fmt.Fprintf(con.stdout, `airlock serves the Lambda API on http://%[1]s, function %[2]s

try it:
  aws lambda invoke --endpoint-url http://%[1]s --function-name %[2]s --cli-binary-format raw-in-base64-out \
    --payload '{"code": "6 * 7"}' /dev/stdout
  curl -s http://%[1]s/2015-03-31/functions/%[2]s/invocations -d '{"code": "6 * 7"}'
`, listener.Addr(), name)
	select {
	case err := <-failed:
		return exit(exitPlatform, fmt.Errorf("serve: %w", err))
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return exit(exitPlatform, err)
	}
	return nil
}
