package scanpool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/airlock-run/airlock/infra/lockdown"
)

const (
	// sampling is how often the pool reads the processor time of a task that may soon have used all of it.
	sampling = 10 * time.Millisecond
	// abandoned is the processor time that a task may still use after its caller has hung up: another worker would cost
	// as much.
	abandoned = 25 * time.Millisecond
	// maxSaid bounds the output of a worker that is kept for the log.
	maxSaid = 2 << 10
)

var errTime = errors.New("it took too long")

// A worker is one process. It serves one task at a time.
type worker struct {
	cmd    *exec.Cmd
	tasks  *os.File
	answer *os.File
	most   int
	print  said
	gone   chan struct{} // closed when the process has ended
	once   sync.Once
}

// said keeps the beginning of what a worker prints.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b[:min(len(b), maxSaid-s.text.Len())])
	return len(b), nil
}

// start starts a worker and waits until it is ready.
func start(ctx context.Context, cfg Config) (*worker, error) {
	tasks, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open a pipe to a scan worker: %w", err)
	}
	theirs, answer, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a pipe from a scan worker: %w", err), tasks.Close(), ours.Close())
	}
	w := &worker{cmd: exec.Command(cfg.Command[0], cfg.Command[1:]...), tasks: ours, answer: theirs, most: cfg.MaxAnswer,
		gone: make(chan struct{})}
	w.cmd.Dir = "/"
	w.cmd.Env = append([]string{}, cfg.Env...)
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = tasks, answer, &w.print
	w.cmd.SysProcAttr = attributes()
	w.cmd.WaitDelay = time.Second
	err = w.cmd.Start()
	_, _ = tasks.Close(), answer.Close() // the worker has its own
	if err != nil {
		_, _ = ours.Close(), theirs.Close()
		return nil, err
	}
	lockdown.EndFirst(w.cmd.Process.Pid)
	go func() {
		_ = w.cmd.Wait() // its exit status adds nothing
		close(w.gone)
	}()
	if _, err := w.receive(ctx, cfg.StartTimeout, cfg.StartTimeout, 0); err != nil {
		w.kill()
		<-w.gone
		return nil, fmt.Errorf("a scan worker is not ready: %w: %s", err, w.said())
	}
	return w, nil
}

// do sends a task and waits for its answer.
func (w *worker) do(ctx context.Context, task []string, processor, clock time.Duration) ([]byte, error) {
	before := w.processor()
	sent := make(chan error, 1)
	go func() { sent <- writeFrame(w.tasks, task...) }()
	answer, err := w.receive(ctx, before+processor, clock, before+abandoned)
	if err != nil {
		w.kill()
	}
	return answer, errors.Join(err, <-sent)
}

// receive waits for a frame until the worker has used so much processor time, or the clock has run so long. When the
// context ends it waits on until the worker has used patience.
func (w *worker) receive(ctx context.Context, processor, clock, patience time.Duration) ([]byte, error) {
	type frame struct {
		payload []byte
		err     error
	}
	got := make(chan frame, 1)
	go func() {
		payload, err := readFrame(w.answer, w.most)
		got <- frame{payload, err}
	}()
	sample := time.NewTimer(sampling)
	defer sample.Stop()
	late := time.NewTimer(clock)
	defer late.Stop()
	hungUp := ctx.Done()
	for {
		select {
		case f := <-got:
			return f.payload, f.err
		case <-late.C:
			return nil, errTime
		case <-hungUp:
			hungUp = nil
		case <-sample.C:
		}
		used, most := w.processor(), processor
		if used > processor {
			return nil, errTime
		}
		if ctx.Err() != nil {
			if used >= patience {
				return nil, ctx.Err()
			}
			most = min(most, patience)
		}
		sample.Reset(nextSample(most - used))
	}
}

// nextSample returns when to read the processor time of a worker again. Each reading costs this process a tenth of a
// millisecond or more. The time is early enough for a worker that keeps two processors busy.
func nextSample(left time.Duration) time.Duration { return max(left/2, sampling) }

// kill ends the process.
func (w *worker) kill() {
	w.once.Do(func() {
		_ = w.cmd.Process.Kill()                 // it fails only when the process has ended
		_, _ = w.tasks.Close(), w.answer.Close() // which ends a read or write that waits
	})
}

func (w *worker) ended() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

func (w *worker) said() string {
	w.print.mu.Lock()
	defer w.print.mu.Unlock()
	return w.print.text.String()
}
