package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// target is an architecture, by its names on Lambda and in Go.
type target struct {
	name, goarch string
	emulator     string // the program of qemu-user for it
}

func targetNamed(name string) (target, error) {
	switch name {
	case "arm64":
		return target{name, "arm64", "qemu-aarch64"}, nil
	case "x86_64":
		return target{name, "amd64", "qemu-x86_64"}, nil
	}
	return target{}, fmt.Errorf("architecture %q: must be arm64 or x86_64", name)
}

func targetsNamed(names []string) ([]target, error) {
	var targets []target
	for _, name := range names {
		t, err := targetNamed(name)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// build compiles a main package for the target. Nothing of this machine or the checkout gets in: no cgo, no paths, no
// version-control stamp, no build ID, no Go settings. A version is written into the gateway, unless it is empty.
func (t target) build(ctx context.Context, pkg, out, version string) error {
	flags := "-s -w -buildid="
	if version != "" {
		flags += " -X github.com/airlock-run/airlock/gateway/api.version=" + version
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc,grpcnotrace",
		"-ldflags", flags, "-o", out, pkg)
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); !strings.HasPrefix(name, "GO") || strings.HasSuffix(name, "PROXY") ||
			strings.HasSuffix(name, "SUMDB") || strings.HasSuffix(name, "CACHE") || name == "GOPATH" || name == "GOROOT" {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+t.goarch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOWORK=off", "GOFLAGS=-mod=readonly")
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	return nil
}

// command returns how to run a program of the target here: directly, or under qemu-user.
func (t target) command(program string) ([]string, error) {
	if runtime.GOOS == "linux" && runtime.GOARCH == t.goarch {
		return []string{program}, nil
	}
	for _, name := range []string{t.emulator, t.emulator + "-static"} {
		emulator, err := exec.LookPath(name)
		if !errors.Is(err, exec.ErrNotFound) {
			return []string{emulator, program}, err
		}
	}
	return nil, fmt.Errorf("%s is needed to run %s programs here: apt-get install qemu-user", t.emulator, t.name)
}

// how returns a description of how programs of the target run here.
func (t target) how() string {
	if t.emulated() {
		return "under " + t.emulator
	}
	return "natively"
}

// emulated reports whether programs of the target run under an emulator here.
func (t target) emulated() bool { return runtime.GOOS != "linux" || runtime.GOARCH != t.goarch }
