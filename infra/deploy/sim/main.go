package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(play(os.Args[1:], os.Stdout, os.Stderr)) }

// play prints the report and gives the exit code.
func play(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("sim", flag.ContinueOnError)
	flags.SetOutput(stderr)
	seed := flags.Uint64("seed", 1, "of the simulation")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	for _, table := range report(*seed) {
		if _, err := fmt.Fprintln(stdout, table); err != nil {
			return 1
		}
	}
	return 0
}
