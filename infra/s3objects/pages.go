package s3objects

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// ErrList is wrapped by the error of a list that a server neither keeps in order nor ends.
var ErrList = errors.New("the server's list of the bucket is not valid")

// mostIdle is the number of pages without progress that a list may have in a row.
const mostIdle = 1000

// Pages yields the pages of a list. Its keys are in order, have the prefix, and come after the start. A list without
// these properties ends with ErrList, and so does one whose pages stay empty, or that continues at the same token
// twice: a server could otherwise keep a caller busy forever.
func Pages(ctx context.Context, client *s3.Client, in *s3.ListObjectsV2Input,
) iter.Seq2[*s3.ListObjectsV2Output, error] {
	return func(yield func(*s3.ListObjectsV2Output, error) bool) {
		pages := s3.NewListObjectsV2Paginator(client, in)
		keys := order{prefix: aws.ToString(in.Prefix), last: aws.ToString(in.StartAfter)}
		folders := order{prefix: keys.prefix}
		token := ""
		check := func(page *s3.ListObjectsV2Output) error {
			for _, o := range page.Contents {
				if err := keys.next(o.Key, false); err != nil {
					return err
				}
			}
			for _, p := range page.CommonPrefixes {
				if err := folders.next(p.Prefix, false); err != nil {
					return err
				}
			}
			if aws.ToBool(page.IsTruncated) && aws.ToString(page.NextContinuationToken) == "" {
				return fmt.Errorf("%w: after %.100q it breaks off", ErrList, keys.last)
			}
			last := token
			if token = aws.ToString(page.NextContinuationToken); token != "" && token == last {
				return fmt.Errorf("%w: after %.100q it continues where it did before", ErrList, keys.last)
			}
			return nil
		}
		each(ctx, pages, check, func() string { return keys.last + folders.last }, yield)
	}
}

// Versions yields the pages of a list of versions, under the conditions of Pages. A key may come many times.
func Versions(ctx context.Context, client *s3.Client, in *s3.ListObjectVersionsInput,
) iter.Seq2[*s3.ListObjectVersionsOutput, error] {
	return func(yield func(*s3.ListObjectVersionsOutput, error) bool) {
		versions, markers := order{prefix: aws.ToString(in.Prefix)}, order{prefix: aws.ToString(in.Prefix)}
		check := func(page *s3.ListObjectVersionsOutput) error {
			for _, v := range page.Versions {
				if err := versions.next(v.Key, true); err != nil {
					return err
				}
			}
			for _, m := range page.DeleteMarkers {
				if err := markers.next(m.Key, true); err != nil {
					return err
				}
			}
			return nil
		}
		pages := s3.NewListObjectVersionsPaginator(client, in)
		each(ctx, pages, check, func() string { return max(versions.last, markers.last) }, yield)
	}
}

// each yields the pages that pass a check, while the place in the list advances.
func each[Page any](
	ctx context.Context,
	pages interface {
		HasMorePages() bool
		NextPage(ctx context.Context, options ...func(*s3.Options)) (Page, error)
	},
	check func(Page) error, place func() string, yield func(Page, error) bool,
) {
	for idle := 0; pages.HasMorePages(); idle++ {
		before := place()
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = check(page)
		}
		if place() != before {
			idle = 0
		}
		if err == nil && idle == mostIdle {
			err = fmt.Errorf("%w: after %.100q come %d pages without another key", ErrList, before, mostIdle)
		}
		if !yield(page, err) || err != nil {
			return
		}
	}
}

// order checks the keys of a list.
type order struct{ prefix, last string }

// next takes the next key, which may be the last one again.
func (o *order) next(name *string, again bool) error {
	key := aws.ToString(name)
	if !strings.HasPrefix(key, o.prefix) || key < o.last || key == o.last && !again {
		return fmt.Errorf("%w: after %.100q with the prefix %.100q comes %.100q", ErrList, o.last, o.prefix, key)
	}
	o.last = key
	return nil
}
