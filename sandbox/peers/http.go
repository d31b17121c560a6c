package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const nodeServer = "Node + isolated-vm"

// servers measures the servers with one connection and with eight, in turns.
func servers(ctx context.Context, dir string, stderr io.Writer) (map[int][]*series, error) {
	code, err := files.ReadFile("script.js")
	if err != nil {
		return nil, err
	}
	airlock, stopAirlock, err := startAirlock(ctx, stderr)
	if err != nil {
		return nil, err
	}
	defer stopAirlock()
	node, stopNode, err := startPort(exec.CommandContext(ctx, "node", "--no-node-snapshot", "server.mjs"), dir)
	if err != nil {
		return nil, err
	}
	defer stopNode()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	bare, stopBare, err := startPort(exec.CommandContext(ctx, self, "bare", dir), dir)
	if err != nil {
		return nil, err
	}
	defer stopBare()
	urls := map[string]string{another: airlock, again: airlock, bareAnother: bare, bareAgain: bare, nodeServer: node}
	out := map[int][]*series{}
	for _, connections := range []int{1, 8} {
		all := []*series{{name: another}, {name: again}, {name: nodeServer}, {name: bareAnother}, {name: bareAgain}}
		for round := range rounds + 1 {
			for _, s := range all {
				start := time.Now()
				turn, err := s.post(ctx, urls[s.name], string(code), connections)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", s.name, err)
				}
				if round > 0 {
					s.times = append(s.times, turn...)
					s.rate += float64(len(turn)) / time.Since(start).Seconds() / rounds
				}
			}
		}
		out[connections] = all
	}
	return out, nil
}

// post sends perTurn requests over each of a number of kept-alive connections.
func (s *series) post(ctx context.Context, url, code string, connections int) ([]time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			turn, err := s.postOver(ctx, url, code)
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, turn...), errors.Join(failed, err)
		})
	}
	wg.Wait()
	return all, failed
}

func (s *series) postOver(ctx context.Context, url, code string) ([]time.Duration, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	var turn []time.Duration
	for range perTurn {
		body, err := json.Marshal(map[string]string{"code": s.text(code)})
		if err != nil {
			return nil, err
		}
		start := time.Now()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Cache-Control", "no-store") // no answer from an earlier execution
		answer, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(`"completed"`)) {
			return nil, fmt.Errorf("status %d: %.200s %w", answer.StatusCode, text, err)
		}
		turn = append(turn, time.Since(start))
	}
	return turn, nil
}

// startAirlock serves with the binary that make build left in bin.
func startAirlock(ctx context.Context, stderr io.Writer) (url string, stop func(), err error) {
	binary, err := filepath.Abs("bin/airlock")
	if err != nil {
		return "", nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return "", nil, errors.New("bin/airlock is missing: run make build, in the repository's folder, first")
	}
	records, err := os.MkdirTemp(filepath.Dir(binary), "peers-records-") // a disk, not what /tmp may be
	if err != nil {
		return "", nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := free.Addr().String()
	_, port, _ := strings.Cut(address, ":")
	if err := free.Close(); err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "serve")
	cmd.Env = append(os.Environ(), "HOST=127.0.0.1", "PORT="+port, "RATE_LIMIT_MAX_REQUESTS=100000000",
		"AUDIT_STORE=file://"+records)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // it was asked to end
		_ = os.RemoveAll(records)
	}
	if err := ready(ctx, "http://"+address+"/readyz"); err != nil {
		stop()
		return "", nil, err
	}
	return "http://" + address + "/api/execute", stop, nil
}

// startPort starts a server that prints its port.
func startPort(cmd *exec.Cmd, dir string) (url string, stop func(), err error) {
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}
	port, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port) + "/", stop, nil
}

func ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.New("airlock did not become ready")
		case <-tick.C:
		}
	}
}
