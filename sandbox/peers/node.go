package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

//go:embed package.json peers.mjs server.mjs script.js
var files embed.FS

// install puts the peers into a folder of their own, once.
func install(ctx context.Context, stderr io.Writer) (string, error) {
	dir := os.Getenv("AIRLOCK_PEERS_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder for the peers; set AIRLOCK_PEERS_DIR: %w", err)
		}
		dir = filepath.Join(cache, "airlock-peers", "npm") // not in the engine's cache, which allows no links
	}
	if err := os.CopyFS(dir, overwrite(dir)); err != nil {
		return "", fmt.Errorf("write %s: %w", dir, err)
	}
	fmt.Fprintln(stderr, "installing isolated-vm and quickjs-emscripten into", dir,
		"(isolated-vm may be compiled: a minute)")
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, stderr, stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("npm install: %w", err)
	}
	return dir, nil
}

// overwrite writes the files after removing what an earlier run left in their places.
func overwrite(dir string) embed.FS {
	for _, name := range []string{"package.json", "peers.mjs", "server.mjs", "script.js"} {
		_ = os.Remove(filepath.Join(dir, name)) // not there is as good
	}
	return files
}

// sandboxes measures the contestants in process, in turns.
func sandboxes(ctx context.Context, dir string) ([]*series, error) {
	code, err := files.ReadFile("script.js")
	if err != nil {
		return nil, err
	}
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: filepath.Join(filepath.Dir(dir), "engine")})
	if err != nil {
		return nil, err
	}
	defer func() { _ = engine.Close(context.WithoutCancel(ctx)) }() // the process ends next
	node := exec.CommandContext(ctx, "node", "--no-node-snapshot", "peers.mjs")
	node.Dir, node.Stderr = dir, os.Stderr
	stdin, err := node.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := node.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := node.Start(); err != nil {
		return nil, fmt.Errorf("start node: %w", err)
	}
	answers := bufio.NewReader(stdout)
	all := []*series{{name: another}, {name: again}, {name: "isolated-vm"}, {name: "quickjs-emscripten-context"},
		{name: "quickjs-emscripten-instance"}}
	for round := range rounds + 1 { // the first warms everything up
		for _, s := range all {
			var turn []time.Duration
			if s.name == again || s.name == another {
				turn, err = ours(ctx, engine, s, string(code))
			} else {
				turn, err = theirs(stdin, answers, s.name)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			if round > 0 {
				s.times = append(s.times, turn...)
			}
		}
	}
	if err := stdin.Close(); err != nil {
		return nil, err
	}
	return all, node.Wait()
}

func ours(ctx context.Context, engine *sandbox.Engine, s *series, code string) ([]time.Duration, error) {
	turn := make([]time.Duration, 0, perTurn)
	for range perTurn {
		text := s.text(code)
		start := time.Now()
		r, err := engine.Run(ctx, sandbox.Script{Code: text}, sandbox.Grants{})
		if err != nil || !r.Completed() {
			return nil, fmt.Errorf("%s %w", r.Error, err)
		}
		turn = append(turn, time.Since(start))
	}
	return turn, nil
}

func theirs(stdin io.Writer, answers *bufio.Reader, name string) ([]time.Duration, error) {
	if _, err := fmt.Fprintf(stdin, "%s %d\n", name, perTurn); err != nil {
		return nil, err
	}
	line, err := answers.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var micros []float64
	if err := json.Unmarshal(line, &micros); err != nil {
		return nil, err
	}
	turn := make([]time.Duration, len(micros))
	for i, us := range micros {
		turn[i] = time.Duration(us * float64(time.Microsecond))
	}
	return turn, nil
}
