// Command airlock is the gateway, the function process and the tools around them in one binary.
package main

import (
	"os"

	"github.com/airlock-run/airlock/gateway/cli"
	"github.com/airlock-run/airlock/infra/lategc"
	"github.com/airlock-run/airlock/infra/timerslack"
)

func main() {
	percent := 100
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "serve":
			_ = timerslack.Restart() // if it fails, each request costs a little more
		case "run":
			percent = cli.RunGCPercent
		}
	}
	lategc.Start(percent)
	os.Exit(cli.Run(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
