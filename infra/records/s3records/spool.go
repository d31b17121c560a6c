package s3records

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// ErrSpoolFull is the error of Append if S3 is unavailable and the spool is full.
var ErrSpoolFull = errors.New("the spool is full")

const (
	lockSuffix  = ".lock"
	draftSuffix = ".draft"
)

// spool keeps lines on the disk until S3 has them, in their order. A nil spool is never busy.
//
//	<writer>.lock                            held while the process lives
//	<writer>.<number, 20 digits>.<id>.json   a line
type spool struct {
	dir     string
	writer  string
	max     int64
	every   time.Duration
	deliver func(ctx context.Context, line []byte) error
	warn    func(msg string, args ...any)
	stop    context.CancelFunc
	wake    chan struct{}
	done    chan struct{}

	mu    sync.Mutex
	locks map[string]*os.File // by writer: those of this process, and those it sends for
	queue []string            // names, oldest first of each writer
	used  int64
}

func openSpool(cfg Config, writer string, deliver func(context.Context, []byte) error) (*spool, error) {
	if err := os.MkdirAll(cfg.Spool, 0o700); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &spool{
		dir: cfg.Spool, writer: writer, max: cfg.SpoolBytes, every: cfg.RetryEvery, deliver: deliver, warn: cfg.Log.Warn,
		stop: stop, wake: make(chan struct{}, 1), done: make(chan struct{}), locks: map[string]*os.File{},
	}
	if err := s.adopt(); err != nil {
		s.release()
		stop()
		return nil, err
	}
	go s.run(ctx)
	return s, nil
}

// adopt takes over the lines of dead processes and creates its own place.
func (s *spool) adopt() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if writer, ok := strings.CutSuffix(e.Name(), lockSuffix); ok {
			if err := s.lock(writer, filepath.Join(s.dir, e.Name()), os.O_RDWR); err != nil &&
				!errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	if entries, err = os.ReadDir(s.dir); err != nil { // reread, now that no other process touches these
		return err
	}
	for _, e := range entries {
		writer, rest, _ := strings.Cut(e.Name(), ".")
		if s.locks[writer] == nil || !strings.HasSuffix(rest, suffix) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		s.queue, s.used = append(s.queue, e.Name()), s.used+info.Size()
	}
	slices.Sort(s.queue)
	return s.enter(s.writer)
}

// enter creates the lock of a writer of this process. It is locked before it gets its name, so that nobody takes the
// writer for dead.
func (s *spool) enter(writer string) error {
	fresh := filepath.Join(s.dir, writer+draftSuffix)
	if err := s.lock(writer, fresh, os.O_RDWR|os.O_CREATE|os.O_EXCL); err != nil {
		return err
	}
	return os.Rename(fresh, filepath.Join(s.dir, writer+lockSuffix))
}

func (s *spool) lock(writer, path string, how int) error {
	f, err := os.OpenFile(path, how, 0o600)
	if err != nil {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return errors.Join(err, f.Close())
	}
	s.locks[writer] = f
	return nil
}

// busy reports whether lines wait; new ones must queue behind them.
func (s *spool) busy() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) > 0
}

// add writes a line and flushes it.
func (s *spool) add(r audit.Sealed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line, err := s.find(r.ID); err != nil || line != nil {
		if line != nil {
			return audit.ErrExists
		}
		return err
	}
	if s.used+int64(len(r.Line)) > s.max {
		return ErrSpoolFull
	}
	if s.locks[r.Chain.Writer] == nil {
		if err := s.enter(r.Chain.Writer); err != nil {
			return fmt.Errorf("spool: %w", err)
		}
	}
	name := fmt.Sprintf("%s.%020d.%s%s", r.Chain.Writer, r.Chain.Seq, r.ID, suffix)
	if err := s.write(name, r.Line); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.queue, s.used = append(s.queue, name), s.used+int64(len(r.Line))
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

func (s *spool) write(name string, line []byte) (err error) {
	draft := filepath.Join(s.dir, s.writer+draftSuffix)
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(draft, filepath.Join(s.dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	return s.flush()
}

func (s *spool) flush() error {
	dir, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// find returns the line of a spooled record of any process; nil if there is none.
func (s *spool) find(id string) ([]byte, error) {
	if s == nil || !audit.ValidID(id) {
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(s.dir, "*."+id+suffix))
	if err != nil || len(names) == 0 {
		return nil, err
	}
	line, err := os.ReadFile(names[0])
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // it has just been sent
	}
	return line, err
}

// run sends the lines, oldest first, and pauses when one does not get through.
func (s *spool) run(ctx context.Context) {
	defer close(s.done)
	for {
		s.mu.Lock()
		name := ""
		if len(s.queue) > 0 {
			name = s.queue[0]
		}
		s.mu.Unlock()
		if name == "" {
			select {
			case <-s.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		if err := s.send(ctx, name); err != nil {
			if ctx.Err() != nil {
				return
			}
			s.warn("a spooled record was not sent", "file", name, "error", err)
			pause(ctx, s.every)
		}
	}
}

func (s *spool) send(ctx context.Context, name string) error {
	path := filepath.Join(s.dir, name)
	line, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := s.deliver(ctx, line); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue, s.used = s.queue[1:], s.used-int64(len(line))
	return nil
}

// close stops sending after at most patience and leaves the rest to the next opening.
func (s *spool) close(patience time.Duration) {
	if s == nil {
		return
	}
	end := time.Now().Add(patience)
	for s.busy() && time.Now().Before(end) {
		ctx, cancel := context.WithDeadline(context.Background(), end)
		pause(ctx, s.every/8)
		cancel()
	}
	s.stop()
	<-s.done
	s.release()
}

// release releases the locks and removes those of writers that have nothing left.
func (s *spool) release() {
	for writer, f := range s.locks {
		left, err := filepath.Glob(filepath.Join(s.dir, writer+".*"+suffix))
		if err == nil && len(left) == 0 {
			err = errors.Join(os.RemoveAll(filepath.Join(s.dir, writer+draftSuffix)),
				os.RemoveAll(filepath.Join(s.dir, writer+lockSuffix)))
		}
		if err = errors.Join(err, f.Close()); err != nil {
			s.warn("the spool was not tidied up", "writer", writer, "error", err)
		}
	}
}
