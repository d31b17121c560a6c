package s3records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sync/errgroup"

	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/audit"
)

// readers bounds the concurrent requests of one call.
const readers = s3objects.MaxConns

// The most that is kept in memory of a bucket's lists.
const (
	maxDays  = 40_000 // a century
	maxHeads = 1_000_000
	maxMoves = 1_000_000
)

// Get returns the record with an ID, from the bucket or the spool; audit.ErrNotFound means that there is none,
// audit.ErrAltered that it was changed. An ID without a time in it costs a look into every day.
func (s *Store) Get(ctx context.Context, id string) (audit.Record, error) {
	if err := s.usable(ctx); err != nil {
		return audit.Record{}, err
	}
	if !audit.ValidID(id) {
		return audit.Record{}, audit.ErrNotFound
	}
	line, err := s.line(ctx, id)
	if err != nil {
		return audit.Record{}, fmt.Errorf("read record %s: %w", id, err)
	}
	if line == nil {
		return audit.Record{}, audit.ErrNotFound
	}
	r, err := audit.Open(line, s.cfg.Key)
	if err != nil {
		return audit.Record{}, fmt.Errorf("record %s: %w", id, err)
	}
	return r, nil
}

func (s *Store) usable(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return ctx.Err()
}

// line returns the stored bytes of a record; nil if there are none.
func (s *Store) line(ctx context.Context, id string) ([]byte, error) {
	spooled, err := s.spool.find(id)
	if err != nil {
		return nil, err
	}
	var days []string
	if at, ok := audit.IDTime(id); ok {
		days = []string{audit.Day(id, at)}
	} else {
		if days, err = s.days(ctx); err != nil {
			return nil, err
		}
		slices.Reverse(days)
	}
	for _, day := range days {
		line, err := s.read(ctx, s.dayPrefix(day)+id+suffix)
		if s3objects.Status(err) == 404 {
			continue
		}
		if err != nil && spooled != nil {
			break
		}
		return line, err
	}
	return spooled, nil
}

// days returns the days with records, oldest first.
func (s *Store) days(ctx context.Context) ([]string, error) {
	var days []string
	prefix := s.root(executions + dayMark)
	for page, err := range s3objects.Pages(ctx, s.client, &s3.ListObjectsV2Input{
		Bucket: &s.cfg.Bucket, Prefix: &prefix, Delimiter: aws.String("/"),
	}) {
		if err != nil {
			return nil, err
		}
		for _, p := range page.CommonPrefixes {
			day := strings.TrimSuffix(strings.TrimPrefix(aws.ToString(p.Prefix), prefix), "/")
			if _, err := time.Parse(time.DateOnly, day); err == nil {
				days = append(days, day)
			}
		}
		if len(days) > maxDays {
			return nil, fmt.Errorf("the bucket has records of more than %d days", maxDays)
		}
	}
	slices.Sort(days)
	return days, nil
}

// keys returns the keys of a day after low and before high, in order; "" is no bound. It stops after about most of
// them and then says so.
func (s *Store) keys(ctx context.Context, day, low, high string, most int) (keys []string, whole bool, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &s.cfg.Bucket, Prefix: aws.String(s.dayPrefix(day))}
	if low != "" {
		in.StartAfter = &low
	}
	for page, err := range s3objects.Pages(ctx, s.client, in) {
		if err != nil {
			return nil, false, err
		}
		for _, o := range page.Contents {
			if key := aws.ToString(o.Key); high != "" && key >= high {
				return keys, true, nil
			} else {
				keys = append(keys, key)
			}
		}
		if len(keys) >= most && aws.ToBool(page.IsTruncated) {
			return keys, false, nil
		}
	}
	return keys, true, nil
}

// lines reads objects, several at once, and yields them in order. An object that is gone is nil.
func (s *Store) lines(ctx context.Context, keys []string, fn func(key string, line []byte) error) error {
	for batch := range slices.Chunk(keys, readers) {
		got := make([][]byte, len(batch))
		group, ctx := errgroup.WithContext(ctx)
		for i, key := range batch {
			group.Go(func() error {
				line, err := s.read(ctx, key)
				if s3objects.Status(err) == 404 {
					return nil
				}
				got[i] = line
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for i, key := range batch {
			if err := fn(key, got[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Each calls fn with the stored line of every record received at since or later, day by day, in the order of IDs. It
// excludes spooled records.
func (s *Store) Each(ctx context.Context, since time.Time, fn func(line []byte) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	days, err := s.days(ctx)
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	for _, day := range days {
		if outside(audit.Query{Since: since}, day) {
			continue
		}
		for low := ""; ; {
			keys, whole, err := s.keys(ctx, day, low, "", 1000)
			if err != nil {
				return fmt.Errorf("read records: %w", err)
			}
			err = s.lines(ctx, keys, func(_ string, line []byte) error {
				if line == nil {
					return nil
				}
				if r, err := audit.Decode(line); err == nil && r.Time.Before(since) {
					return nil
				}
				return fn(line)
			})
			if err != nil {
				return err
			}
			if whole {
				break
			}
			low = keys[len(keys)-1]
		}
	}
	return nil
}

// outside reports whether no record of the day can have a time that the query selects, with a day of margin on both
// sides.
func outside(q audit.Query, day string) bool {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return true
	}
	return !q.Until.IsZero() && t.Add(-24*time.Hour).After(q.Until) ||
		!q.Since.IsZero() && t.Add(48*time.Hour).Before(q.Since)
}

var errPage = errors.New("the page is full")
