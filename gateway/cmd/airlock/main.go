// Command airlock is the gateway, the function process and the tools around them in one binary.
package main

import (
	"os"

	"github.com/airlock-run/airlock/gateway/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)) }
