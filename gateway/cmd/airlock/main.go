// Command airlock is the gateway, the function process and the tools around them in one binary.
package main

import (
	"os"

	"github.com/airlock-run/airlock/gateway/cli"
	"github.com/airlock-run/airlock/infra/timerslack"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		_ = timerslack.Restart() // if it fails, each request costs a little more
	}
	os.Exit(cli.Run(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
