package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 0, 1 for a failure, 2 for a usage error.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "dist", "folder for the zips")
	archs := flags.String("arch", "arm64,x86_64", "architectures to make, by their Lambda names")
	use := flags.String("use", "", "architecture to copy to function.zip and gateway.zip")
	colds := flags.Int("cold", 0, "start the function of this machine's architecture so many times, and print what a "+
		"start is made of")
	packages := flags.String("packages", "", "put this folder of npm packages into the zips of the function")
	image := flags.String("image", "", "write the gateway's container image to this file, and no zips")
	version := flags.String("version", "", "with -image: version of the image")
	twice := flags.Bool("twice", false, "make everything twice and compare")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	p := packer{out: *out, use: *use, twice: *twice, packages: *packages, colds: *colds, log: stdout}
	run := p.pack
	if *image != "" {
		run = func(ctx context.Context, names []string) error { return p.packImage(ctx, names, *image, *version) }
	}
	if err := run(ctx, strings.Split(*archs, ",")); err != nil {
		fmt.Fprintln(stderr, "pack:", err)
		return 1
	}
	return 0
}
