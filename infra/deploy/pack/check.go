package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
)

// fill starts a function with an empty compilation cache and lets it run code, which fills the cache.
func fill(ctx context.Context, t target, bootstrap, cache string) error {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	_, err := answer(ctx, t, bootstrap, func(context.Context, http.Handler) error { return nil },
		"AIRLOCK_CACHE_DIR="+cache)
	return err
}

// check unpacks a function's zip, runs code from there, imports its packages, and sends it each of the documented
// events. Its cache must be complete: a function that compiles is slow at every cold start and cannot keep the result.
func check(ctx context.Context, t target, data []byte) (result string, err error) {
	dir, err := os.MkdirTemp("", "airlock-check-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := unpack(data, dir); err != nil {
		return "", err
	}
	before, err := filesBelow(filepath.Join(dir, "cache"))
	if err != nil {
		return "", err
	}
	took, err := answer(ctx, t, filepath.Join(dir, "bootstrap"), func(ctx context.Context,
		api http.Handler) error {
		return errors.Join(answersEvents(ctx, api), importsPackages(ctx, api, filepath.Join(dir, process.PackagesName)))
	})
	if err != nil {
		return "", err
	}
	after, err := filesBelow(filepath.Join(dir, "cache"))
	if err != nil {
		return "", err
	}
	if !slices.EqualFunc(before, after, func(a, b entry) bool { return a.name == b.name }) {
		return "", fmt.Errorf("the function compiled again: its cache went from %d to %d files", len(before), len(after))
	}
	return fmt.Sprintf("ran code from the zip %s, start to answer %v", t.how(), took.Round(time.Millisecond)), nil
}

// answer starts one function process against a local Runtime API, runs code, calls more, if set, with the Lambda API,
// and ends the process. It returns the time from start to answer.
func answer(ctx context.Context, t target, bootstrap string, then func(context.Context, http.Handler) error,
	env ...string) (took time.Duration, err error) {
	command, err := t.command(bootstrap)
	if err != nil {
		return 0, err
	}
	records, err := os.MkdirTemp("", "airlock-records-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(records)) }()
	var log bytes.Buffer
	patience := 20 * time.Second
	if t.emulated() {
		patience = 5 * time.Minute
	}
	began := time.Now()
	pool, err := localinvoke.New(ctx, localinvoke.Config{
		Command: command, Env: append(env, "AUDIT_STORE=file://"+records), Processes: 1,
		StartTimeout: patience, MaxExecution: patience, MaxMemory: 2 << 30,
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, log.String())
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reply, err := pool.Invoke(ctx, execution.Invocation{
		ID: "exec_00000000000000000000000000", Via: execution.ViaCLI, ReceivedAt: began.UTC(),
		Request: execution.Request{Code: "[1, 2, 3].map(n => n * input)", Input: []byte("14"), Policy: "strict"},
	}, nil)
	took = time.Since(began)
	if err == nil {
		err = then(ctx, pool.ServiceHandler())
	}
	if err := errors.Join(err, pool.Close(ctx)); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, log.String())
	}
	if got := string(reply.Result.Result); got != "[14,28,42]" || reply.Result.Status != execution.Completed {
		message := ""
		if reply.Result.Error != nil {
			message = *reply.Result.Error
		}
		return 0, fmt.Errorf("the function answered %s %s %s\n%s", reply.Result.Status, got, message,
			strings.TrimSpace(log.String()))
	}
	return took, nil
}
