package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// A benchmark is one of Octane's programs.
type benchmark struct {
	name  string
	files []string
}

var benchmarks = []benchmark{
	{"Richards", []string{"richards.js"}},
	{"DeltaBlue", []string{"deltablue.js"}},
	{"Crypto", []string{"crypto.js"}},
	{"RayTrace", []string{"raytrace.js"}},
	{"EarleyBoyer", []string{"earley-boyer.js"}},
	{"RegExp", []string{"regexp.js"}},
	{"Splay", []string{"splay.js"}},
	{"NavierStokes", []string{"navier-stokes.js"}},
	{"PdfJS", []string{"pdfjs.js"}},
	{"Mandreel", []string{"mandreel.js"}},
	{"Gameboy", []string{"gbemu-part1.js", "gbemu-part2.js"}},
	{"CodeLoad", []string{"code-load.js"}},
	{"Box2D", []string{"box2d.js"}},
	{"zlib", []string{"zlib.js", "zlib-data.js"}},
	{"Typescript", []string{"typescript.js", "typescript-input.js", "typescript-compiler.js"}},
}

// report is the program's last script. It prints the score of the first result: that of the throughput.
const report = `
var scores = [];
BenchmarkSuite.RunSuites({
	NotifyResult: function (name, score) { scores.push(score); },
	NotifyError: function (name, error) { throw error; },
});
console.log('score ' + scores[0]);`

// Limits of one benchmark. The slowest takes half a minute on one core of a small machine.
const (
	wall   = 5 * time.Minute
	memory = 1 << 30
)

// A contestant runs scripts and returns what they print.
type contestant struct {
	name string
	run  func(ctx context.Context, scripts []string) (string, error)
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: octane FOLDER, a checkout of https://github.com/chromium/octane")
		return 2
	}
	if err := compare(ctx, args[0], stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "octane:", err)
		return 1
	}
	return 0
}

func compare(ctx context.Context, dir string, stdout, stderr io.Writer) error {
	contestants := []contestant{node("node --jitless", "--jitless"), node("node")}
	for _, build := range sandbox.EngineBuilds() {
		engine, err := sandbox.New(ctx, sandbox.Config{EngineBuild: build, MaxMemoryBytes: memory})
		if err != nil {
			return err
		}
		defer func() { _ = engine.Close(ctx) }()
		contestants = append(contestants, guest(engine))
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
	for _, c := range contestants {
		fmt.Fprintf(table, "\t%s", c.name)
	}
	fmt.Fprintln(table, "\t")
	logs := make([]float64, len(contestants)) // sums of the logarithms of the ratios
	measured := 0
	for _, b := range benchmarks {
		scripts, err := b.scripts(dir)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(stderr, "%s is left out: %v\n", b.name, err)
			continue
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "measuring %s ...\n", b.name)
		scores := make([]float64, len(contestants))
		for i, c := range contestants {
			out, err := c.run(ctx, scripts)
			if err != nil {
				return fmt.Errorf("%s in %s: %w", b.name, c.name, err)
			}
			if scores[i], err = score(out); err != nil {
				return fmt.Errorf("%s in %s: %w", b.name, c.name, err)
			}
		}
		fmt.Fprint(table, b.name)
		for i, s := range scores {
			fmt.Fprintf(table, "\t%.0f (%.2f)", s, s/scores[0])
			logs[i] += math.Log(s / scores[0])
		}
		fmt.Fprintln(table, "\t")
		measured++
	}
	if measured == 0 {
		return fmt.Errorf("no benchmarks in %s", dir)
	}
	fmt.Fprint(table, "geometric mean")
	for _, l := range logs {
		fmt.Fprintf(table, "\t(%.3f)", math.Exp(l/float64(measured)))
	}
	fmt.Fprintln(table, "\t")
	return table.Flush()
}

// scripts returns the scripts of one run: Octane's frame, the benchmark, and the report.
func (b benchmark) scripts(dir string) ([]string, error) {
	var out []string
	for _, name := range append([]string{"base.js"}, b.files...) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return append(out, report), nil
}

// score returns the score that a run printed.
func score(out string) (float64, error) {
	for line := range strings.Lines(out) {
		if s, ok := strings.CutPrefix(strings.TrimSpace(line), "score "); ok {
			return strconv.ParseFloat(s, 64)
		}
	}
	return 0, fmt.Errorf("no score in %q", out)
}

// guest returns the contestant that runs scripts in guests of e.
func guest(e *sandbox.Engine) contestant {
	return contestant{e.EngineBuild(), func(ctx context.Context, scripts []string) (string, error) {
		// zlib takes the guest for Node.js and asks for its modules.
		grants := sandbox.Grants{Eval: true, Modules: []string{"*"}, Files: sandbox.FilesRead,
			Limits: sandbox.Limits{Wall: wall, CPU: wall, MemoryBytes: memory}}
		input, err := json.Marshal(strings.Join(scripts, "\n"))
		if err != nil {
			return "", err
		}
		r, err := e.Run(ctx, sandbox.Script{Code: "(0, eval)(input)", Input: input}, grants)
		if err == nil && r.Error != "" {
			err = errors.New(r.Error)
		}
		return r.Output, err
	}}
}

// node returns the contestant that runs scripts as one file in a process of node.
func node(name string, args ...string) contestant {
	return contestant{name, func(ctx context.Context, scripts []string) (string, error) {
		cmd := exec.CommandContext(ctx, "node", append(args, "-")...)
		cmd.Stdin = strings.NewReader(strings.Join(scripts, "\n"))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("%w\n%s", err, stderr.String())
		}
		return string(out), nil
	}}
}
