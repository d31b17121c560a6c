package s3records

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/infra/s3objects"
)

// Place returns the bucket, the prefix and the server.
func (s *Store) Place() string { return s.cfg.Endpoint + " s3://" + s.cfg.Bucket + "/" + s.cfg.Prefix }

// Days returns the UTC days (2006-01-02) with records, oldest first.
func (s *Store) Days(ctx context.Context) ([]string, error) {
	days, err := s.days(ctx)
	if err != nil {
		return nil, fmt.Errorf("list days of records: %w", err)
	}
	return days, nil
}

// Names calls fn with the names of a day's objects, about 1,000 at a time and in order: all those with IDs made at
// since or later. It excludes spooled records. A name is an ID, or an ID, a ~ and a writer.
func (s *Store) Names(ctx context.Context, day string, since time.Time, fn func(names []string) error) error {
	low := ""
	if !since.IsZero() {
		low = s.keyBefore(day, since)
	}
	for {
		keys, whole, err := s.keys(ctx, day, low, "", 1000)
		if err != nil {
			return fmt.Errorf("list records: %w", err)
		}
		names := make([]string, 0, len(keys))
		for _, key := range keys {
			if name, ok := strings.CutSuffix(strings.TrimPrefix(key, s.dayPrefix(day)), suffix); ok {
				names = append(names, name)
			}
		}
		if err := fn(names); err != nil || whole {
			return err
		}
		low = keys[len(keys)-1]
	}
}

// Recent calls fn with names as Names does, of the day of since and of all later days, in their order. It makes one
// request for about 1,000 names.
func (s *Store) Recent(ctx context.Context, since time.Time, fn func(day string, names []string) error) error {
	prefix := s.root(executions + dayMark)
	for page, err := range s3objects.Pages(ctx, s.client, &s3.ListObjectsV2Input{
		Bucket: &s.cfg.Bucket, Prefix: &prefix,
		StartAfter: aws.String(s.keyBefore(since.UTC().Format(time.DateOnly), since)),
	}) {
		if err != nil {
			return fmt.Errorf("list records: %w", err)
		}
		days := map[string][]string{}
		for _, o := range page.Contents {
			day, name, _ := strings.Cut(strings.TrimPrefix(aws.ToString(o.Key), prefix), "/")
			name, ok := strings.CutSuffix(name, suffix)
			if _, err := time.Parse(time.DateOnly, day); err == nil && ok {
				days[day] = append(days[day], name)
			}
		}
		for _, day := range slices.Sorted(maps.Keys(days)) {
			if err := fn(day, days[day]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Objects calls fn with the lines of a day's objects, in the order of names; it reads several at once. It skips
// objects that are gone.
func (s *Store) Objects(ctx context.Context, day string, names []string,
	fn func(name string, line []byte) error) error {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = s.dayPrefix(day) + name + suffix
	}
	return s.lines(ctx, keys, func(key string, line []byte) error {
		if line == nil {
			return nil
		}
		return fn(strings.TrimSuffix(strings.TrimPrefix(key, s.dayPrefix(day)), suffix), line)
	})
}
