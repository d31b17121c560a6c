package cli

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

	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
)

func lambdaLocalCommand(con terminal.Console) *cobra.Command {
	var port, concurrency int
	var name string
	c := &cobra.Command{
		Use:   "lambda-local",
		Short: "Serve the Lambda API for local functions",
		Long: "Serve the two operations of the AWS Lambda API that invoke functions on 127.0.0.1, with function\n" +
			"processes of this machine. AWS SDKs and the AWS CLI can call it, and so can airlock serve with\n" +
			"INVOKER=lambda and LAMBDA_ENDPOINT. Signatures are not checked. Calls beyond --concurrency are throttled as\n" +
			"Lambda throttles them, with status 429 and TooManyRequestsException. AUDIT_STORE, SANDBOX_MEMORY_MB,\n" +
			"EGRESS_ALLOW, FUNCTION_PROCESSES and AIRLOCK_CACHE_DIR apply.",
		Example: "  airlock lambda-local\n" +
			"  INVOKER=lambda LAMBDA_FUNCTION=airlock LAMBDA_ENDPOINT=http://127.0.0.1:9001 airlock serve",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := settings.Read(con.Getenv, time.Now)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			if concurrency < 1 {
				return exit.With(exit.Usage, errors.New("--concurrency: must be at least 1"))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return lambdaLocal(ctx, con, set, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), name,
				concurrency)
		},
	}
	c.Flags().IntVar(&port, "port", 9001, "port to listen on; 0 picks one")
	c.Flags().IntVar(&concurrency, "concurrency", 1000, "synchronous calls at once; further ones are throttled")
	c.Flags().StringVar(&name, "name", "airlock", "name of the function")
	return c
}

// lambdaLocal serves until ctx ends.
func lambdaLocal(ctx context.Context, con terminal.Console, set settings.Settings, address, name string,
	concurrency int) (err error) {
	log := slog.New(slog.NewTextHandler(con.Stderr, nil))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return exit.With(exit.Platform, fmt.Errorf("--port: %w", err))
	}
	defer func() { _ = listener.Close() }() // closed by Serve already, or never used
	in, err := wiring.OpenInputs(ctx, con.Getenv, set, log)
	if err != nil {
		return exit.Wiring(err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	pool, err := in.OpenPool(ctx, set.AuditStore, func(cfg *localinvoke.Config) {
		cfg.FunctionName, cfg.Concurrency = name, concurrency
		if set.Records.KeepCode { // only the function knows the request of an event
			cfg.Env = append(cfg.Env, "AUDIT_CODE=keep")
		}
	})
	if err != nil {
		return exit.With(exit.Platform, fmt.Errorf("functions: %w", err))
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, pool.Close(closing))
	}()
	server := &http.Server{Handler: pool.ServiceHandler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	_, _ = fmt.Fprintf(con.Stdout, `airlock serves the Lambda API on http://%[1]s, function %[2]s

try it:
  aws lambda invoke --endpoint-url http://%[1]s --function-name %[2]s --cli-binary-format raw-in-base64-out \
    --payload '{"code": "6 * 7"}' /dev/stdout
  curl -s http://%[1]s/2015-03-31/functions/%[2]s/invocations -d '{"code": "6 * 7"}'
`, listener.Addr(), name)
	select {
	case err := <-failed:
		return exit.With(exit.Platform, fmt.Errorf("serve: %w", err))
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), wiring.Patience)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return exit.With(exit.Platform, err)
	}
	return nil
}
