package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/internal/raw"
)

// BenchmarkLibrary measures what the library costs an execution that uses none of it. It runs two things in turn on
// two engines, one with the whole library and one with console, timers and results alone: an empty script, and an
// instance alone (made, given an empty global script, and dropped). It reports the median of each and the ratio,
// which copy-on-write must keep within 1.1.
func BenchmarkLibrary(b *testing.B) {
	basic, err := sandbox.NewBasic(b.Context(),
		sandbox.Config{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")}, raw.Basic{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := basic.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	engines := []*sandbox.Engine{basic, newEngine(b)}
	empty := raw.Program{Sources: []raw.Source{{Name: "empty.js", Text: "0"}}}
	for _, c := range []struct {
		name string
		run  func(e *sandbox.Engine) (sandbox.Result, error)
	}{
		{"execution", func(e *sandbox.Engine) (sandbox.Result, error) {
			return e.Run(b.Context(), sandbox.Script{Code: "0"}, sandbox.Grants{})
		}},
		{"instance", func(e *sandbox.Engine) (sandbox.Result, error) {
			return e.RunGlobal(b.Context(), empty, 1, sandbox.Grants{Eval: true})
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took [2][]time.Duration
			for b.Loop() {
				for i, e := range engines {
					start := time.Now()
					if r, err := c.run(e); err != nil || r.Error != "" {
						b.Fatal(err, r.Error)
					}
					took[i] = append(took[i], time.Since(start))
				}
			}
			var p50 [2]float64
			for i := range took {
				slices.Sort(took[i])
				p50[i] = float64(took[i][len(took[i])/2].Nanoseconds())
			}
			b.ReportMetric(p50[0], "basic-p50-ns")
			b.ReportMetric(p50[1], "library-p50-ns")
			b.ReportMetric(p50[1]/p50[0], "ratio")
		})
	}
}
