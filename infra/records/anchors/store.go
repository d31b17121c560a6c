package anchors

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/audit"
)

const (
	folder  = "anchors"
	version = 1
	// mostHeads bounds an anchor; the oldest writers are dropped.
	mostHeads = 100_000
	mostBytes = 32 << 20
	// contended is how often a document that others change is read again.
	contended = 10
)

// ErrUnreadable means that the anchor was altered.
var ErrUnreadable = errors.New("the anchor is damaged or was altered")

// Config configures a Store. The zero value is ready for a folder.
type Config struct {
	// Key is the chain key of the records, if they have one.
	Key []byte
	// Access configures the S3 client.
	Access s3objects.Access
	// Documents holds the anchor of a state that is a database. Nil means that the state is a folder or a bucket.
	Documents Documents
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Documents are stored documents that are replaced by compare-and-swap. Their errors are those of package s3objects.
type Documents interface {
	Get(ctx context.Context, name string, most int64) (body []byte, tag string, err error)
	Create(ctx context.Context, name string, body []byte) (tag string, err error)
	Replace(ctx context.Context, name string, body []byte, tag string) (newTag string, err error)
}

// A Store is the anchor of one record store. It is safe for concurrent use, by any number of processes.
type Store struct {
	cfg     Config
	records string
	name    string
	dir     string    // "" in a bucket or a database
	objects Documents // nil in a folder
}

// Open returns the anchor of the records at a URL in a state: a folder, s3://bucket/prefix, or Config.Documents. It
// creates and asks nothing.
func Open(ctx context.Context, state, records string, cfg Config) (*Store, error) {
	if state == "" || records == "" {
		return nil, errors.New("anchors: a state and a record store are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	records, _, _ = strings.Cut(records, "?") // the rest of the URL says how records are kept, not where
	sum := sha256.Sum256([]byte(records))
	s := &Store{cfg: cfg, records: records, name: fmt.Sprintf("%x.json", sum[:12])}
	switch {
	case cfg.Documents != nil:
		s.objects = cfg.Documents
	case strings.HasPrefix(state, "s3://"):
		bucket, err := s3objects.Open(ctx, state, cfg.Access)
		if err != nil {
			return nil, fmt.Errorf("anchors: %w", err)
		}
		s.objects = bucket
	default:
		s.dir = filepath.Join(state, folder)
	}
	return s, nil
}

// document is a stored anchor before its sum.
type document struct {
	Version int       `json:"version"`
	Records string    `json:"records"`
	At      time.Time `json:"at"`
	Heads   []string  `json:"heads"`
}

// Read returns the anchor, and false if there is none.
func (s *Store) Read(ctx context.Context) (audit.Anchor, bool, error) {
	doc, _, err := s.load(ctx)
	if err != nil || doc == nil {
		return audit.Anchor{}, false, err
	}
	a, err := s.parse(doc)
	return a, err == nil, err
}

// Raise merges heads into the anchor. Heads that are not higher change nothing.
func (s *Store) Raise(ctx context.Context, heads []audit.Head) error {
	if s.objects == nil {
		unlock, err := s.lock()
		if err != nil {
			return fmt.Errorf("anchors: %w", err)
		}
		defer unlock()
	}
	for range contended {
		doc, tag, err := s.load(ctx)
		if err != nil {
			return err
		}
		var known audit.Anchor
		if doc != nil {
			if known, err = s.parse(doc); err != nil {
				return err
			}
		}
		merged, raised := merge(known.Heads, heads)
		if !raised {
			return nil
		}
		if doc, err = s.encode(merged); err != nil {
			return err
		}
		if err = s.save(ctx, doc, tag); !errors.Is(err, s3objects.ErrChanged) {
			return err
		}
	}
	return errors.New("anchors: too many concurrent changes")
}

// merge returns the higher head of each writer. If two name the same record differently, it keeps the known one,
// which is evidence.
func merge(known, heads []audit.Head) (merged []audit.Head, raised bool) {
	byWriter := map[string]audit.Head{}
	for _, h := range known {
		byWriter[h.Writer] = h
	}
	for _, h := range heads {
		if h.Seq > byWriter[h.Writer].Seq {
			byWriter[h.Writer], raised = h, true
		}
	}
	for _, writer := range slices.Sorted(maps.Keys(byWriter)) { // ULIDs: the oldest first
		merged = append(merged, byWriter[writer])
	}
	return merged[max(len(merged)-mostHeads, 0):], raised
}

func (s *Store) encode(heads []audit.Head) ([]byte, error) {
	doc := document{Version: version, Records: s.records, At: s.cfg.Now().UTC()}
	for _, h := range heads {
		doc.Heads = append(doc.Heads, h.String())
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("anchors: %w", err)
	}
	return audit.AppendSum(text[:len(text)-1], 0, s.cfg.Key), nil
}

func (s *Store) parse(text []byte) (audit.Anchor, error) {
	if err := audit.CheckSum(text, s.cfg.Key); err != nil {
		return audit.Anchor{}, fmt.Errorf("%w: %s: %w", ErrUnreadable, s.Place(), err)
	}
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil || doc.Version != version || doc.Records != s.records {
		return audit.Anchor{}, fmt.Errorf("%w: %s is not the anchor of these records", ErrUnreadable, s.Place())
	}
	a := audit.Anchor{Source: "the state", At: doc.At}
	for _, line := range doc.Heads {
		h, err := audit.ParseHead(line)
		if err != nil {
			return audit.Anchor{}, fmt.Errorf("%w: %s: %w", ErrUnreadable, s.Place(), err)
		}
		a.Heads = append(a.Heads, h)
	}
	return a, nil
}

// Place returns where the anchor is.
func (s *Store) Place() string {
	switch {
	case s.cfg.Documents != nil:
		return folder + "/" + s.name + " in the state's database"
	case s.objects != nil:
		return folder + "/" + s.name + " in the state's bucket"
	}
	return filepath.Join(s.dir, s.name)
}

func (s *Store) load(ctx context.Context) (doc []byte, tag string, err error) {
	if s.objects != nil {
		doc, tag, err = s.objects.Get(ctx, folder+"/"+s.name, mostBytes)
		if errors.Is(err, s3objects.ErrMissing) {
			return nil, "", nil
		}
	} else if doc, err = readFile(filepath.Join(s.dir, s.name)); errors.Is(err, os.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the anchor: %w", err)
	}
	return doc, tag, nil
}

// readFile reads an anchor in a folder. It neither waits for a pipe nor reads without end.
func readFile(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostBytes {
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", path, mostBytes)
	}
	return os.ReadFile(path)
}

func (s *Store) save(ctx context.Context, doc []byte, tag string) error {
	if s.objects == nil {
		if err := replace(s.dir, s.name, doc); err != nil {
			return fmt.Errorf("write the anchor: %w", err)
		}
		return nil
	}
	var err error
	if tag == "" {
		_, err = s.objects.Create(ctx, folder+"/"+s.name, doc)
	} else {
		_, err = s.objects.Replace(ctx, folder+"/"+s.name, doc, tag)
	}
	if err != nil {
		return fmt.Errorf("write the anchor: %w", err)
	}
	return nil
}

// lock excludes other gateways of this folder. A process that dies releases it.
func (s *Store) lock() (unlock func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.dir, s.name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // closing releases the lock
}

// replace replaces a file atomically.
func replace(dir, name string, doc []byte) error {
	temporary, err := os.CreateTemp(dir, name+".new-")
	if err != nil {
		return err
	}
	_, err = temporary.Write(doc)
	if err == nil {
		err = temporary.Sync()
	}
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
