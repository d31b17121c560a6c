package s3records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/audit"
)

// ErrClosed is the error of a closed store.
var ErrClosed = errors.New("the record store is closed")

var errReader = errors.New("the record store was opened for reading only")

// errUnread is about a record that was sent more than once by a role that may not read: its key is taken, by itself
// or by another record.
var errUnread = errors.New("a response was lost, and this role may not check whether the record arrived; allow it " +
	"s3:GetObject on its own prefix")

// A Store keeps records in a bucket. It is safe for concurrent use and writes up to [maxLanes] records at once.
type Store struct {
	cfg    Config
	client *s3.Client
	reader bool
	head   *headKeeper
	spool  *spool        // nil if there is no spool
	busy   chan struct{} // holds an element for each Append at work

	mu     sync.Mutex // guards everything below
	closed bool
	free   []*lane // the one to use next is the last
}

var _ audit.Store = (*Store)(nil)

// Open opens a store for writing and reading. It only checks that the bucket exists; with a spool it opens even if S3
// is unavailable.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := OpenReader(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.reader = false
	first := &lane{Store: s}
	if err := first.begin(); err != nil {
		return nil, fmt.Errorf("record store: %w", err)
	}
	s.free = append(s.free, first)
	s.head = keepHead(s)
	if s.cfg.Spool != "" {
		if s.spool, err = openSpool(s.cfg, first.last.Writer, s.deliver); err != nil {
			s.head.close()
			return nil, fmt.Errorf("record store: spool %q: %w", s.cfg.Spool, err)
		}
	}
	if err := s.reach(ctx); err != nil {
		if s.spool == nil || definite(err) {
			s.spool.close(0)
			s.head.close()
			return nil, fmt.Errorf("record store: bucket %q cannot be used: %w", s.cfg.Bucket, err)
		}
		s.cfg.Log.Warn("S3 cannot be reached; records go to the spool", "bucket", s.cfg.Bucket, "error", err)
	}
	return s, nil
}

// OpenReader opens a store for reading only. It sends no request.
func OpenReader(ctx context.Context, cfg Config) (*Store, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("record store: %w", err)
	}
	client, err := connect(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("record store: %w", err)
	}
	return &Store{cfg: cfg, client: client, reader: true, busy: make(chan struct{}, maxLanes)}, nil
}

// reach returns an error if the bucket is unavailable. A role that may only write records may not ask, which counts
// as available.
func (s *Store) reach(ctx context.Context) error {
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.cfg.Bucket})
	if s3objects.Status(err) == 403 {
		return nil
	}
	return err
}

// Append stores a record. Nil means that it is in the bucket or on the spool; audit.ErrExists means that its ID is
// taken. Any other error means that S3 refused or, without a spool, did not answer: then the same record may be
// appended again. ctx counts only before the work begins.
func (s *Store) Append(ctx context.Context, r audit.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.busy }()
	l, err := s.take(r.ID)
	if err == nil {
		defer s.release(l)
		err = l.append(context.WithoutCancel(ctx), r)
	}
	if err != nil && !errors.Is(err, audit.ErrExists) {
		return fmt.Errorf("store record %.40s: %w", r.ID, err)
	}
	return err
}

// put stores a line under a free key. It succeeds if the key holds the same bytes. again means that the line may have
// been sent before.
func (s *Store) put(ctx context.Context, key string, line []byte, again bool) error {
	in := &s3.PutObjectInput{
		Bucket: &s.cfg.Bucket, Key: &key, Body: bytes.NewReader(line), ContentLength: aws.Int64(int64(len(line))),
		ContentType: aws.String("application/json"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
		IfNoneMatch:  aws.String("*"),
		StorageClass: types.StorageClass(s.cfg.StorageClass),
	}
	s.encrypt(in)
	if s.cfg.Lock != "" {
		in.ObjectLockMode = types.ObjectLockMode(s.cfg.Lock)
		in.ObjectLockRetainUntilDate = aws.Time(s.cfg.Now().Add(s.cfg.Retain))
	}
	attempts := 0
	for range s.cfg.Attempts {
		_, err := s.client.PutObject(ctx, in, counting(&attempts))
		switch s3objects.Status(err) {
		case 0:
			return err
		case 409: // another request for this key is under way
			in.Body = bytes.NewReader(line)
			continue
		case 412:
			if attempts == 1 && !again {
				return audit.ErrExists
			}
			there, err := s.read(ctx, key)
			if s3objects.Status(err) == 403 {
				return errUnread
			}
			if err != nil {
				return fmt.Errorf("the key is taken, and its record cannot be read: %v", err)
			}
			if bytes.Equal(there, line) {
				return nil
			}
			return audit.ErrExists
		default:
			return err
		}
	}
	return errors.New("requests for this key keep conflicting")
}

// counting counts how often a request is really sent.
func counting(n *int) func(*s3.Options) {
	count := middleware.FinalizeMiddlewareFunc("airlock.count",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput,
			middleware.Metadata, error) {
			*n++
			return next.HandleFinalize(ctx, in)
		})
	return s3.WithAPIOptions(func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(count, "Retry", middleware.After)
	})
}

func (s *Store) encrypt(in *s3.PutObjectInput) {
	switch s.cfg.KMSKey {
	case "":
	case "aws":
		in.ServerSideEncryption = types.ServerSideEncryptionAwsKms
	default:
		in.ServerSideEncryption, in.SSEKMSKeyId = types.ServerSideEncryptionAwsKms, &s.cfg.KMSKey
	}
	if len(s.cfg.Tags) > 0 {
		in.Tagging = aws.String(tagging(s.cfg.Tags))
	}
}

// read returns an object of at most audit.MaxBytes.
func (s *Store) read(ctx context.Context, key string) ([]byte, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.cfg.Bucket, Key: &key,
		ChecksumMode: types.ChecksumModeEnabled})
	if err != nil {
		return nil, err
	}
	line, err := io.ReadAll(io.LimitReader(out.Body, audit.MaxBytes+1))
	if err = errors.Join(err, out.Body.Close()); err != nil {
		return nil, err
	}
	if len(line) > audit.MaxBytes {
		return nil, errors.New("object " + key + " has more than " + strconv.Itoa(audit.MaxBytes) + " bytes")
	}
	return line, nil
}

// Close waits for records that are being written, writes the heads a last time and sends spooled records for a short
// time; the rest stays for the next opening.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	for range maxLanes {
		s.busy <- struct{}{}
	}
	for range maxLanes {
		<-s.busy
	}
	s.spool.close(s.cfg.AttemptTimeout)
	s.head.close()
	return nil
}

// definite reports whether S3 has refused: nothing was stored.
func definite(err error) bool {
	var refusal smithy.APIError
	if errors.As(err, &refusal) && slices.Contains(s3objects.OnTheWay(), refusal.ErrorCode()) {
		return false
	}
	code := s3objects.Status(err)
	return code >= 400 && code < 500 && code != 408 && code != 409 && code != 429
}

// deliver sends a spooled line, beside a record of the same ID if another writer has stored one meanwhile.
func (s *Store) deliver(ctx context.Context, line []byte) error {
	r, err := audit.Decode(line)
	if err != nil {
		return err
	}
	sealed := audit.Sealed{ID: r.ID, Day: audit.Day(r.ID, r.Time), Chain: r.Chain, Line: line}
	key := s.key(sealed)
	err = s.put(ctx, key, line, true)
	if errors.Is(err, audit.ErrExists) || errors.Is(err, errUnread) {
		s.cfg.Log.Warn("a spooled record's ID was used meanwhile; both are kept", "record", r.ID)
		err = s.put(ctx, strings.TrimSuffix(key, suffix)+besides+r.Chain.Writer+suffix, line, true)
	}
	if err == nil {
		s.head.note(sealed)
	}
	return err
}

// pause sleeps for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
