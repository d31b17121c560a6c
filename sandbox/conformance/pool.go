package conformance

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// each calls f with every item, on as many goroutines as there are processors, and returns the first error.
func each(items []string, p *progress, f func(item string) error) error {
	defer p.start(len(items))()
	g, ctx := errgroup.WithContext(context.Background())
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(items)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := f(items[i]); err != nil {
					return fmt.Errorf("%s: %w", items[i], err)
				}
				p.done.Add(1)
			}
			return nil
		})
	}
	return g.Wait()
}

// progress prints every few seconds how far a suite has come.
type progress struct {
	w     io.Writer
	suite string
	every time.Duration
	done  atomic.Int64
}

// start begins printing. It returns what ends it.
func (p *progress) start(total int) (stop func()) {
	began, ticker, ended, quiet := time.Now(), time.NewTicker(p.every), make(chan struct{}), make(chan struct{})
	tell := func() {
		fmt.Fprintf(p.w, "%s: %d of %d files, %s\n", p.suite, p.done.Load(), total, time.Since(began).Round(time.Second))
	}
	go func() {
		defer close(quiet)
		for {
			select {
			case <-ticker.C:
				tell()
			case <-ended:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(ended)
		<-quiet
		tell()
	}
}
