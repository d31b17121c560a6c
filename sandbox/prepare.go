package sandbox

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/cputime"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/source"
)

// The parsers, transforms and source maps are third-party Go code that takes quadratic time or worse on some inputs
// and cannot be interrupted. Each piece of that work runs on a goroutine of its own, and the run waits for it no
// longer than its limits allow. Work that has not finished by then is abandoned: the run ends under the limit that it
// hit, and the engine is spent until the work ends on its own.

const (
	// prepareBeat is how often a preparation is checked against the limits.
	prepareBeat = 5 * time.Millisecond
	// prepareBytes bounds the growth of the heap during that time. Garbage is collected before it is found too large: a
	// bundle of a dozen large libraries leaves more than it needs, which is 200 to 230 MiB, with what is allocated during
	// the collection.
	prepareBytes = 288 << 20
	// prepareStackBytes and fileStackBytes bound the growth of the stacks: together, and more for each goroutine, since
	// esbuild reads each file on one. nesting keeps stacks below 32 MiB. The bound is checked without a collection,
	// which takes a second beside a deep stack; Go ends the process when one stack reaches 1 GB.
	prepareStackBytes = 80 << 20
	fileStackBytes    = 64 << 10
)

// The states of one preparation.
const (
	preparing int32 = iota
	prepared
	abandoned
)

// Spent reports whether preparations that outlived their runs are still at work. Nothing can stop them inside this
// process, and each may take a processor and hundreds of megabytes until it ends. A process that must not slow down
// returns its last result, exits, and is replaced.
func (e *Engine) Spent() bool { return e.abandoned.Load() > 0 }

// outcome is the result of a preparation.
type outcome[T any] struct {
	value T
	panic any
}

// prepare returns the value of work, which runs on a goroutine of its own, or the limit that ended the run before
// work did. work must not use the run, which it may outlive. A panic of work is a panic of prepare.
func prepare[T any](r *run, work func() T) (T, error) {
	var state atomic.Int32
	done := make(chan outcome[T], 1)
	watch := r.watch()
	r.engine.crew.Run(func() {
		var out outcome[T]
		defer func() {
			if v := recover(); v != nil {
				out.panic = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
			done <- out
			if !state.CompareAndSwap(preparing, prepared) {
				r.engine.abandoned.Add(-1)
			}
		}()
		out.value = work()
	})
	var out outcome[T]
	err := func() error {
		alarm := time.NewTimer(watch.pause())
		defer alarm.Stop()
		for {
			select {
			case out = <-done:
				return watch.check()
			case <-r.ctx.Done():
				return r.ctx.Err()
			case <-alarm.C:
				if err := watch.beat(); err != nil {
					return err
				}
				alarm.Reset(watch.pause())
			}
		}
	}()
	r.cpu.Add(watch.used())
	if out.panic != nil {
		panic(out.panic)
	}
	if err != nil {
		r.stage.unprepared = true
		r.engine.abandoned.Add(1)
		if !state.CompareAndSwap(preparing, abandoned) {
			r.engine.abandoned.Add(-1)
		}
	}
	return out.value, err
}

// watch checks the limits of a run during a preparation.
type watch struct {
	r     *run
	began time.Time
	cpu   time.Duration // of the process, when the work began
	// heap and stack are their sizes when the work began.
	heap, stack int64
	// collect is the growth of the heap at which the garbage in it is collected.
	collect int64
}

func (r *run) watch() *watch {
	w := &watch{r: r, began: time.Now(), cpu: cputime.Process(), collect: prepareBytes}
	w.heap, w.stack = heapAndStacks()
	return w
}

// used estimates the processor time of the work: the time of the process since it began, shared equally with the other
// runs in progress, and at most the time that has passed. The work is spread over goroutines that cannot be told apart.
func (w *watch) used() time.Duration {
	return min((cputime.Process()-w.cpu)/time.Duration(w.runs()), time.Since(w.began))
}

// runs returns the number of runs in progress.
func (w *watch) runs() int64 { return max(w.r.engine.running.Load(), 1) }

// pause returns the time to the next beat.
func (w *watch) pause() time.Duration {
	return max(min(prepareBeat, w.r.grants.MaxWall()-w.r.outside.elapsed()), 0)
}

// check returns the time limit that was hit.
func (w *watch) check() error {
	r := w.r
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.outside.elapsed() >= r.grants.MaxWall() {
		return r.limits.exceeded(LimitWall)
	}
	if r.grants.Replay == nil && r.limits.CPU < r.limits.Wall && r.cpu.Used()+w.used() >= r.limits.CPU {
		return r.limits.exceeded(LimitCPU)
	}
	return nil
}

// beat checks the limits and the memory of the process.
func (w *watch) beat() error {
	if err := w.check(); err != nil {
		return err
	}
	heap, stack := heapAndStacks()
	if stack-w.stack > prepareStackBytes*w.runs()+fileStackBytes*int64(runtime.NumGoroutine()) {
		return w.r.limits.unprepared(LimitStack)
	}
	if heap-w.heap <= w.collect*w.runs() {
		return nil
	}
	runtime.GC()
	heap, _ = heapAndStacks()
	growth := (heap - w.heap) / w.runs()
	if growth > prepareBytes {
		return w.r.limits.unprepared(LimitMemory)
	}
	w.collect = max(prepareBytes, growth+prepareBytes/4)
	return nil
}

// heapAndStacks returns the bytes of the heap, with the garbage in it, and of the stacks of goroutines.
func heapAndStacks() (heap, stack int64) {
	samples := [...]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples[:])
	return int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())
}

// unprepared returns the error of a run that ended while its code was being prepared.
func (l Limits) unprepared(limit Limit) error {
	switch limit {
	case LimitMemory:
		return &hostops.LimitError{
			Limit:   string(limit),
			Message: "memory limit exceeded: preparing the code takes more than " + bytesText(prepareBytes),
		}
	case LimitStack:
		return &hostops.LimitError{Limit: string(limit), Message: "stack limit exceeded: the code is nested too deeply"}
	}
	return l.exceeded(limit)
}

// takeSource turns the code into the text that the engine compiles. An error ends the run; the result says what is
// wrong with the code.
func (r *run) takeSource(script Script, v *version) error {
	if v != nil && v.loaded {
		r.source = v.source
		return nil
	}
	return (importer{r}).prepareSource(script, script.Engine == "")
}

// prepareSource prepares the source of a script. ahead leaves out the packages that are evaluated before the code.
func (r importer) prepareSource(script Script, ahead bool) error {
	r.ahead = ahead
	if j := r.grants.Replay; j != nil && j.Unprepared {
		return r.limits.unprepared(j.Limit)
	}
	steps := r.grants.Debug.Steps
	packages, err := r.sourcePackages(script, ahead)
	if err != nil {
		return err
	}
	input := source.Input{Code: script.Code, TypeScript: script.TypeScript, Files: script.Files, Entry: script.Entry,
		Packages: packages, Session: r.step > 0, Saved: script.Version != ""}
	key, kept := source.KeyOf(script.Owner, input)
	kept = kept && !steps
	if kept {
		if r.source = r.engine.sources.Get(key); r.source != nil {
			r.cached = true
			return nil
		}
	}
	type made struct {
		source *source.Source
		ex     *source.Exception
	}
	out, err := prepare(r.run, func() made {
		if steps {
			input = input.WithSteps()
		}
		s, ex := source.Of(input)
		return made{s, ex}
	})
	switch {
	case err != nil:
		return err
	case out.ex != nil:
		r.throw(out.ex)
		return errThrown
	}
	r.source = out.source
	if kept {
		r.engine.sources.Put(key, r.source, len(script.Code))
	}
	return nil
}
