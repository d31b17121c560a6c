// Command lambda is the Lambda function: the bootstrap of the provided.al2023 runtime.
//
//	bootstrap                   serve invocations (Lambda starts it so)
//	bootstrap -fill-cache DIR   compile the engine into DIR, evaluate the packages, and exit: run once per
//	                            architecture when packaging
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/infra/lategc"
)

func main() {
	percent := 400 // what process.Serve reads first may be many packages; then it sets its own
	if len(os.Args) > 1 {
		percent = 100
	}
	lategc.Start(percent)
	os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

func run(args []string, getenv func(string) string, _, stderr io.Writer) int {
	if len(args) > 0 {
		if len(args) != 2 || args[0] != "-fill-cache" {
			fmt.Fprintln(stderr, "usage: bootstrap [-fill-cache DIR]")
			return 2
		}
		build, err := process.EngineBuild(getenv)
		if err == nil {
			err = process.FillCache(context.Background(), args[1], build, getenv)
		}
		if err != nil {
			fmt.Fprintln(stderr, "bootstrap:", err)
			return 1
		}
		return 0
	}
	// Lambda does not report that a caller has gone, so nothing cancels an execution.
	if err := process.Serve(context.Background(), getenv, strings.NewReader(""), stderr); err != nil {
		fmt.Fprintln(stderr, "bootstrap:", err)
	}
	return 1
}
