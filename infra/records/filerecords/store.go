package filerecords

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// ErrClosed is the error of a closed store.
var ErrClosed = errors.New("the record store is closed")

var errReader = errors.New("the record store was opened for reading only")

// Config configures a Store. The zero value is ready for use.
type Config struct {
	// Sync flushes the record to disk before Append returns.
	Sync bool
	// Key, if set, adds an HMAC to every record, head and ledger line. It has at least 16 bytes and is the same for
	// every process from the folder's first record on.
	Key []byte
	// Now is the clock of retention and of writer IDs; default time.Now.
	Now func() time.Time
	// Entropy is the randomness of writer IDs; default crypto/rand.
	Entropy io.Reader
	// Log receives what recovery found; the default discards it.
	Log *slog.Logger
	// Intercept is for tests: see [Interceptor].
	Intercept Interceptor
}

// A tree is a folder of records as its files describe it, without the state of a writer.
type tree struct {
	cfg  Config
	dir  string
	disk disk
	root int // descriptors of the folder and of what is in it
	objs int
	wrs  int
}

// A Store is a folder of records. It is safe for concurrent use and appends one record after the other.
type Store struct {
	tree
	life sync.RWMutex // held for reading while root is used by a reader

	mu     sync.Mutex // guards everything below
	closed bool
	reader bool
	writer string
	headFD int
	slots  []byte // scratch
	rev    int64
	last   audit.Head
	lastID string
	days   map[string]*day
	next   <-chan draft // the draft being prepared, if any
	ready  time.Time    // when a probe last went well
	undo   func() error // what a failed Append could not undo yet
	broken error        // set when the disk refused a flush: it is no longer known what is stored
}

var _ audit.Store = (*Store)(nil)

// Open opens a folder for reading and writing, creates it if necessary, and finishes what killed writers left. It
// fails if the folder is not writable.
func Open(dir string, cfg Config) (*Store, error) {
	s, err := configure(dir, cfg)
	if err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		s.release()
		return nil, fmt.Errorf("record store: folder %q cannot be used: %w", dir, err)
	}
	return s, nil
}

// OpenReader opens an existing folder for reading only. It writes nothing, and Append on it fails.
func OpenReader(dir string, cfg Config) (*Store, error) {
	s, err := configure(dir, cfg)
	if err != nil {
		return nil, err
	}
	s.reader = true
	if s.root, err = open(unix.AT_FDCWD, s.dir, unix.O_RDONLY|unix.O_DIRECTORY); err != nil {
		return nil, fmt.Errorf("record store: %w", err)
	}
	return s, nil
}

func configure(dir string, cfg Config) (*Store, error) {
	if dir == "" {
		return nil, errors.New("record store: the folder has no name")
	}
	if n := len(cfg.Key); n > 0 && n < 16 {
		return nil, fmt.Errorf("record store: the chain key has %d bytes, at least 16 are needed", n)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("record store: %w", err)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{
		tree:   tree{cfg: cfg, dir: abs, disk: disk{before: cfg.Intercept}, root: -1, objs: -1, wrs: -1},
		headFD: -1, days: map[string]*day{},
	}, nil
}

func (s *Store) start() (err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if s.root, err = open(unix.AT_FDCWD, s.dir, unix.O_RDONLY|unix.O_DIRECTORY); err != nil {
		return err
	}
	if s.objs, err = s.folder(objectsDir); err != nil {
		return err
	}
	if s.wrs, err = s.folder(writersDir); err != nil {
		return err
	}
	spread(s.wrs)
	if err := s.newWriter(); err != nil {
		return err
	}
	return s.recover()
}

func (t *tree) folder(name string) (int, error) {
	if err := t.disk.mkdir(t.root, name); err != nil {
		return -1, err
	}
	return open(t.root, name, unix.O_RDONLY|unix.O_DIRECTORY)
}

// newWriter creates this opening's head file. The file is locked before it gets its name, so that nobody takes its
// writer for dead.
func (s *Store) newWriter() error {
	entropy := s.cfg.Entropy
	if entropy == nil {
		entropy = ulid.DefaultEntropy()
	}
	for {
		id, err := ulid.New(ulid.Timestamp(s.cfg.Now()), entropy)
		if err != nil {
			return fmt.Errorf("make a writer id: %w", err)
		}
		s.writer = id.String()
		fresh := s.writer + freshSuffix
		if s.headFD, err = s.disk.create(s.wrs, fresh, unix.O_RDWR|unix.O_EXCL); err != nil {
			return err
		}
		locked := s.disk.lock(s.headFD, fresh, unix.LOCK_EX|unix.LOCK_NB)
		st, err := stat(s.headFD, fresh)
		if err != nil {
			return err
		}
		if errors.Is(locked, unix.EWOULDBLOCK) || st.Nlink == 0 {
			shut(s.headFD) // another opening is removing this name, which now belongs to it
			s.headFD = -1
			continue
		}
		if locked != nil {
			return locked
		}
		s.last = audit.Head{Writer: s.writer}
		first := appendSlot(nil, head{Writer: s.writer, Done: true}, s.cfg.Key)
		for len(first) < headBytes {
			first = append(first, ' ')
		}
		if err := s.disk.write(s.headFD, fresh, first, 0); err != nil {
			return err
		}
		if err := s.disk.renameNew(s.wrs, fresh, s.wrs, s.writer+headSuffix); err != nil {
			return err
		}
		return s.flush(s.wrs, writersDir)
	}
}

// Close ends this opening and enters its writer's last record in the ledger. Reading and writing fail afterwards.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	if !s.reader {
		err = s.settle()
	}
	s.life.Lock()
	defer s.life.Unlock()
	s.release()
	return err
}

// settle removes what a failed Append left and ends the writer.
func (s *Store) settle() error {
	if s.undo != nil {
		if err := s.undo(); err != nil {
			return fmt.Errorf("record store: close: %w", err)
		}
		s.undo = nil
	}
	if err := s.dropDraft(); err != nil {
		return fmt.Errorf("record store: close: %w", err)
	}
	if s.broken != nil {
		return nil // the head file stays for the next opening
	}
	if err := s.endWriter(s.writer, s.last, s.lastID); err != nil {
		return fmt.Errorf("record store: close: %w", err)
	}
	return nil
}

func (s *Store) release() {
	s.shutDraft()
	for _, d := range s.days {
		d.shut()
	}
	clear(s.days)
	for _, fd := range []*int{&s.headFD, &s.wrs, &s.objs, &s.root} {
		if *fd >= 0 {
			shut(*fd)
			*fd = -1
		}
	}
}
