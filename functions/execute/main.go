// Command execute is the Lambda function: the bootstrap of the provided.al2023 runtime.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/airlock-run/airlock/functions/process"
)

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)) }

func run(_ []string, getenv func(string) string, _, stderr io.Writer) int {
	// Lambda says to nobody that a caller has gone: there is no one to hear it from.
	if err := process.Serve(context.Background(), getenv, strings.NewReader(""), stderr); err != nil {
		fmt.Fprintln(stderr, "execute:", err)
	}
	return 1
}
