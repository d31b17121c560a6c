package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

const (
	rounds  = 8
	perTurn = 60
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run makes the comparison, or with the arguments "bare" and the folder of the peers serves the bare server.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(args) == 2 && args[0] == "bare" {
		err = serveBare(ctx, args[1], stdout)
	} else {
		err = compare(ctx, stdout, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "peers:", err)
		return 1
	}
	return 0
}

func compare(ctx context.Context, stdout, stderr io.Writer) error {
	dir, err := install(ctx, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "measuring sandboxes in process ...")
	inProcess, err := sandboxes(ctx, dir)
	if err != nil {
		return err
	}
	print(stdout, "a fresh sandbox, ten lines, the result", inProcess)
	fmt.Fprintln(stderr, "measuring over HTTP ...")
	overHTTP, err := servers(ctx, dir, stderr)
	if err != nil {
		return err
	}
	for _, connections := range []int{1, 8} {
		print(stdout, fmt.Sprintf("POST over HTTP, %d connection(s)", connections), overHTTP[connections])
	}
	return nil
}

// series is the times of one contestant, turn after turn.
type series struct {
	name  string
	times []time.Duration
	// rate is executions a second, where it was measured.
	rate float64
	// texts counts those that were made up.
	texts atomic.Int64
}

// The two series of Airlock are the first of each table. A repeated text is not parsed and compiled again, and most of
// a short run is just that.
const (
	another = "Airlock, another text each time"
	again   = "Airlock, the same text each time"
	// The bare server is the bound of what a gateway around the sandbox can reach.
	bareAnother = "its sandbox in a bare server, another text"
	bareAgain   = "its sandbox in a bare server, the same text"
)

// text returns the script for the next execution of a series.
func (s *series) text(code string) string {
	if s.name == another || s.name == bareAnother {
		return fmt.Sprintf("%s // %d", strings.TrimRight(code, "\n"), s.texts.Add(1))
	}
	return code
}

func (s *series) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s.times))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// print writes a table. The ratios are against the first series and the second, which are Airlock's.
func print(w io.Writer, title string, all []*series) {
	fmt.Fprintf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 2, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tp50\tp99\tp50 / another's\tp50 / same's\tper second\tanother's / per second\tsame's / per second\t")
	another, again := all[0], all[1]
	for _, s := range all {
		p50 := float64(s.quantile(0.5))
		fmt.Fprintf(t, "%s\t%v\t%v\t%.2f\t%.2f\t", s.name, s.quantile(0.5).Round(time.Microsecond),
			s.quantile(0.99).Round(time.Microsecond), p50/float64(another.quantile(0.5)), p50/float64(again.quantile(0.5)))
		if s.rate > 0 {
			fmt.Fprintf(t, "%.0f\t%.2f\t%.2f\t", s.rate, another.rate/s.rate, again.rate/s.rate)
		} else {
			fmt.Fprint(t, "\t\t\t")
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // nobody reads a table on a closed terminal
}
