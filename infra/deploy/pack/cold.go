package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
)

// coldGoal is the target for a fresh process's first answer.
const coldGoal = 80 * time.Millisecond

// start is one cold start in parts, in milliseconds and in order.
type start struct {
	program, module, image, selfTest, others, run, total float64
}

// cold starts the packaged function n times, each time as a fresh process from a read-only folder, and prints the
// medians of the parts: with everything in the zip, and without the image.
func cold(ctx context.Context, t target, data []byte, n int, log io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "airlock-cold-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writable(dir), os.RemoveAll(dir)) }()
	fmt.Fprintf(log, "%-30s %8s %8s %8s %8s %8s %8s %8s %8s\n", "medians of "+fmt.Sprint(n)+" starts, ms", "program",
		"module", "image", "selftest", "others", "run", "TOTAL", "slowest")
	for _, variant := range []string{"as packaged", "image built at every start"} {
		task := filepath.Join(dir, strings.Fields(variant)[0])
		if err := unpack(data, task); err != nil {
			return err
		}
		if variant != "as packaged" {
			if dropped, err := dropImages(filepath.Join(task, "cache")); err != nil || dropped == 0 {
				return errors.Join(err, errors.New("the zip holds no image"))
			}
		}
		if err := readOnly(task); err != nil {
			return err
		}
		starts := make([]start, 0, n)
		for range n {
			if variant != "as packaged" { // root can write to any folder, and may have run the start before
				if _, err := dropImages(filepath.Join(task, "cache")); err != nil {
					return err
				}
			}
			one, err := coldStart(ctx, t, filepath.Join(task, "bootstrap"))
			if err != nil {
				return fmt.Errorf("%s: %w", variant, err)
			}
			starts = append(starts, one)
		}
		report(log, variant, starts)
		if total := median(starts, func(s start) float64 { return s.total }); variant == "as packaged" {
			verdict := "met"
			if total > milliseconds(coldGoal) {
				verdict = "missed"
			}
			fmt.Fprintf(log, "%-30s %s: %.1f ms, wanted are %.0f at most\n", "", verdict, total, milliseconds(coldGoal))
		}
	}
	return nil
}

func report(log io.Writer, name string, starts []start) {
	parts := []func(start) float64{
		func(s start) float64 { return s.program }, func(s start) float64 { return s.module },
		func(s start) float64 { return s.image },
		func(s start) float64 { return s.selfTest }, func(s start) float64 { return s.others },
		func(s start) float64 { return s.run },
		func(s start) float64 { return s.total },
	}
	fmt.Fprintf(log, "%-30s", name)
	for _, part := range parts {
		fmt.Fprintf(log, " %8.1f", median(starts, part))
	}
	slowest := slices.MaxFunc(starts, func(a, b start) int { return int(a.total*1000) - int(b.total*1000) })
	fmt.Fprintf(log, " %8.1f\n", slowest.total)
}

func median(starts []start, part func(start) float64) float64 {
	values := make([]float64, 0, len(starts))
	for _, s := range starts {
		values = append(values, part(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// coldStart starts one process against a local Runtime API and runs code.
func coldStart(ctx context.Context, t target, bootstrap string) (_ start, err error) {
	command, err := t.command(bootstrap)
	if err != nil {
		return start{}, err
	}
	records, err := os.MkdirTemp("", "airlock-records-")
	if err != nil {
		return start{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(records)) }()
	said := &lines{ready: make(chan []byte, 1)}
	began := time.Now()
	pool, err := localinvoke.New(ctx, localinvoke.Config{
		Command: command, Env: []string{"AUDIT_STORE=file://" + records}, Processes: 1, MaxMemory: 2 << 30,
		StartTimeout: time.Minute, Logger: slog.New(slog.NewJSONHandler(said, nil)),
	})
	if err != nil {
		return start{}, err
	}
	defer func() { err = errors.Join(err, pool.Close(ctx)) }()
	reply, err := pool.Invoke(ctx, execution.Invocation{
		ID: "exec_00000000000000000000000000", Via: execution.ViaCLI, ReceivedAt: began.UTC(),
		Request: execution.Request{Code: "6 * 7", Policy: "strict"},
	}, nil)
	total := time.Since(began)
	if err != nil {
		return start{}, err
	}
	if got := string(reply.Result.Result); got != "42" {
		return start{}, fmt.Errorf("the function answered %s %s", reply.Result.Status, got)
	}
	var line struct {
		Startup struct {
			Began                                            time.Time
			ModuleMs, ImageMs, SelfTestMs, OthersMs, TotalMs float64
		}
	}
	select {
	case text := <-said.ready:
		if err := json.Unmarshal(text, &line); err != nil {
			return start{}, fmt.Errorf("what the function says of its start: %w", err)
		}
	case <-ctx.Done():
		return start{}, ctx.Err()
	}
	s := line.Startup
	program := milliseconds(s.Began.Sub(began))
	return start{program, s.ModuleMs, s.ImageMs, s.SelfTestMs, s.OthersMs, milliseconds(total) - program - s.TotalMs,
		milliseconds(total)}, nil
}

// lines is a log that passes on the line that a function process writes when it is ready.
type lines struct{ ready chan []byte }

// Write implements io.Writer; a handler calls it once for each line.
func (l *lines) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(`"msg":"function process ready"`)) {
		select {
		case l.ready <- bytes.Clone(line):
		default:
		}
	}
	return len(line), nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// dropImages removes the images from a cache, so that a process builds its own.
func dropImages(cache string) (dropped int, err error) {
	images, err := filepath.Glob(filepath.Join(cache, "image-*"))
	for _, image := range images {
		err = errors.Join(err, os.Remove(image))
	}
	return len(images), err
}

// readOnly removes the write permission from every folder of a tree, as in /var/task. Root can still write.
func readOnly(tree string) error { return folders(tree, 0o555) }

func writable(tree string) error { return folders(tree, 0o755) }

func folders(tree string, mode fs.FileMode) error {
	return filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chmod(path, mode)
	})
}
