package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

// A Store is an audit store with the operations that operators need. It is safe for concurrent use.
type Store interface {
	audit.Store
	io.Closer
	// Verify checks every record against its hash, its chain, and what the store knows about its writers.
	Verify(ctx context.Context) (audit.Report, error)
	// VerifyAgainst is Verify that also checks the chains against anchors.
	VerifyAgainst(ctx context.Context, anchors []audit.Anchor) (audit.Report, error)
	// RepairDays files records that are filed under the wrong day under their own, and returns them. A store that was
	// opened for reading refuses.
	RepairDays(ctx context.Context) ([]audit.Move, error)
	// Heads returns the newest record of each writer that certainly exists, for an anchor.
	Heads(ctx context.Context) ([]audit.Head, error)
	// Each calls fn with the stored line of every record received at since or later, oldest day first, and with stored
	// lines that are not records. The bytes are valid until fn returns.
	Each(ctx context.Context, since time.Time, fn func(line []byte) error) error
}

var (
	_ Store = (*filerecords.Store)(nil)
	_ Store = (*s3records.Store)(nil)
)

// Config configures a store beyond its URL. The zero value is ready for use.
type Config struct {
	// Key makes and checks the HMAC of every record; at least 16 bytes.
	Key []byte
	// Sync flushes a folder's records to disk before Append returns.
	Sync bool
	// S3 holds the further settings of a bucket: endpoint, encryption, lock, spool. Its Bucket, Prefix, Key and Log
	// come from the URL and from this Config.
	S3 s3records.Config
	// Log receives recovery and retries; the default discards them.
	Log *slog.Logger
}

// Open opens a store for reading and writing.
func Open(ctx context.Context, store string, cfg Config) (Store, error) {
	at, err := parse(store)
	if err != nil {
		return nil, err
	}
	if at.bucket != "" {
		bucket, err := cfg.bucket(at)
		if err != nil {
			return nil, err
		}
		return opened(s3records.Open(ctx, bucket))
	}
	return opened(filerecords.Open(at.dir, filerecords.Config{Key: cfg.Key, Sync: cfg.Sync, Log: cfg.Log}))
}

// OpenReader opens an existing store for reading only.
func OpenReader(ctx context.Context, store string, cfg Config) (Store, error) {
	at, err := parse(store)
	if err != nil {
		return nil, err
	}
	if at.bucket != "" {
		bucket, err := cfg.bucket(at)
		if err != nil {
			return nil, err
		}
		return opened(s3records.OpenReader(ctx, bucket))
	}
	return opened(filerecords.OpenReader(at.dir, filerecords.Config{Key: cfg.Key, Log: cfg.Log}))
}

// opened returns a nil Store for a nil store.
func opened[S Store](s S, err error) (Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (c Config) bucket(at place) (s3records.Config, error) {
	cfg := c.S3
	cfg.Bucket, cfg.Prefix, cfg.Key, cfg.Log = at.bucket, at.prefix, c.Key, c.Log
	err := options(at.query, &cfg)
	return cfg, err
}

// Folder returns the local folder that the store writes to: its own, the spool of a bucket, or "" for a bucket
// without one. It fails if the URL is invalid.
func Folder(store string) (string, error) {
	at, err := parse(store)
	if err != nil || at.bucket == "" {
		return at.dir, err
	}
	cfg, err := Config{}.bucket(at)
	return cfg.Spool, err
}

// place is a parsed URL.
type place struct {
	dir                   string
	bucket, prefix, query string
}

// parse parses a URL or the path of a folder.
func parse(store string) (place, error) {
	scheme, rest, isURL := strings.Cut(store, "://")
	if !isURL {
		scheme, rest = "file", store
	}
	switch scheme {
	case "file":
		if rest == "" {
			return place{}, errors.New("the store names no folder; write file:///path/of/a/folder")
		}
		if isURL {
			if p, err := url.PathUnescape(rest); err == nil {
				rest = p
			}
		}
		dir, err := filepath.Abs(rest)
		if err != nil {
			return place{}, fmt.Errorf("store %q: %w", store, err)
		}
		return place{dir: dir}, nil
	case "s3":
		rest, query, _ := strings.Cut(rest, "?")
		bucket, prefix, _ := strings.Cut(rest, "/")
		if bucket == "" {
			return place{}, errors.New("the store names no bucket; write s3://bucket/prefix")
		}
		return place{bucket: bucket, prefix: strings.Trim(prefix, "/"), query: query}, nil
	}
	return place{}, fmt.Errorf("store %q: must be file:///path/of/a/folder or s3://bucket/prefix", store)
}
