package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 0, 1 for a failure, 2 for a usage error.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	flags.SetOutput(stderr)
	sbom := flags.String("sbom", "", "file for the bill of materials")
	licenses := flags.String("licenses", "", "file for the licence texts")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, "sbom: name the packages that are released, such as ./gateway/cmd/airlock")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := write(ctx, flags.Args(), *sbom, *licenses, stdout); err != nil {
		fmt.Fprintln(stderr, "sbom:", err)
		return 1
	}
	return 0
}
