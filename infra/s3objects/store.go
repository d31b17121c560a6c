package s3objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

var (
	// ErrMissing says that there is no object of that key.
	ErrMissing = errors.New("there is no such object")
	// ErrChanged says that the object is not the one that was read any more, or that there is one already.
	ErrChanged = errors.New("the object has changed meanwhile")
)

// Store is the objects below one prefix of a bucket. It is safe for concurrent use, by any number of processes.
type Store struct {
	bucket, prefix string
	client         *s3.Client
}

// Open opens the store at a URL, s3://bucket/prefix. It asks S3 nothing yet. Attempts default to 4, of 20 s each.
func Open(ctx context.Context, url string, a Access) (*Store, error) {
	rest, ok := strings.CutPrefix(url, "s3://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	prefix = strings.Trim(prefix, "/")
	if !ok || bucket == "" || strings.Contains(prefix, "//") {
		return nil, fmt.Errorf("must be s3://bucket/prefix; got %q", url)
	}
	if prefix != "" {
		prefix += "/"
	}
	if a.Attempts == 0 {
		a.Attempts = 4
	}
	if a.AttemptTimeout == 0 {
		a.AttemptTimeout = 20 * time.Second
	}
	client, err := Connect(ctx, a)
	if err != nil {
		return nil, err
	}
	return &Store{bucket: bucket, prefix: prefix, client: client}, nil
}

// Create keeps body under a key that is not taken, and gives its tag; ErrChanged when another object is there. That
// the first answer got lost and the second attempt met its own object is a success, and so is meeting one of the same
// bytes.
func (s *Store) Create(ctx context.Context, key string, body []byte) (tag string, err error) {
	for range conflicts {
		if tag, err = s.put(ctx, key, body, ""); err == nil {
			return tag, nil
		}
		// A server may refuse a large object before it has read it, and hang up: the refusal is lost then.
		silent := status(err) == 0 && !errors.Is(err, ErrChanged)
		if !silent && !errors.Is(err, ErrChanged) {
			return "", err
		}
		there, tag, reading := s.Get(ctx, key, int64(len(body)))
		switch {
		case reading == nil && bytes.Equal(there, body):
			return tag, nil
		case silent || !errors.Is(reading, ErrMissing):
			return "", err
		}
		// It is not there: S3 refused only because something else went on at the same time (409), or it is gone again.
		wait := time.NewTimer(10 * time.Millisecond)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return "", ctx.Err()
		}
	}
	return "", fmt.Errorf("store object %q: others work on it all the time", key)
}

// conflicts is how often a key is tried that is not taken and cannot be had.
const conflicts = 50

// Replace puts body in the place of the object that Get gave tag for, and gives the new tag; ErrChanged when another is
// there by now, or none.
func (s *Store) Replace(ctx context.Context, key string, body []byte, tag string) (string, error) {
	return s.put(ctx, key, body, tag)
}

func (s *Store) put(ctx context.Context, key string, body []byte, tag string) (string, error) {
	in := &s3.PutObjectInput{
		Bucket: &s.bucket, Key: aws.String(s.prefix + key), Body: bytes.NewReader(body),
		ContentLength: aws.Int64(int64(len(body))),
		ContentType:   aws.String("application/json"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	}
	if tag == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = &tag
	}
	out, err := s.client.PutObject(ctx, in)
	switch code := status(err); {
	case err == nil:
		return aws.ToString(out.ETag), nil
	case code == 409 || code == 412 || code == 404 && tag != "":
		return "", ErrChanged
	}
	return "", fmt.Errorf("store object %q: %w", key, err)
}

// Get gives the object of a key and the tag of what it is now; ErrMissing when there is none. One of more than most
// bytes is an error.
func (s *Store) Get(ctx context.Context, key string, most int64) (body []byte, tag string, err error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: aws.String(s.prefix + key),
		ChecksumMode: types.ChecksumModeEnabled})
	if status(err) == 404 {
		return nil, "", ErrMissing
	}
	if err != nil {
		return nil, "", fmt.Errorf("read object %q: %w", key, err)
	}
	body, err = io.ReadAll(io.LimitReader(out.Body, most+1))
	if err = errors.Join(err, out.Body.Close()); err != nil {
		return nil, "", fmt.Errorf("read object %q: %w", key, err)
	}
	if int64(len(body)) > most {
		return nil, "", fmt.Errorf("object %q has more than %d bytes", key, most)
	}
	return body, aws.ToString(out.ETag), nil
}

// Delete takes an object away; one that is not there is no error.
func (s *Store) Delete(ctx context.Context, key string) error {
	if _, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket,
		Key: aws.String(s.prefix + key)}); err != nil && status(err) != 404 {
		return fmt.Errorf("delete object %q: %w", key, err)
	}
	return nil
}

// Erase takes an object away with nothing left of it, also in a bucket that keeps versions: the marker that Delete
// leaves there would be passed by every List to come. Only for an object that was created once and never replaced.
func (s *Store) Erase(ctx context.Context, key string) error {
	head, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: aws.String(s.prefix + key)})
	if status(err) == 404 {
		return nil
	}
	if err == nil {
		_, err = s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: aws.String(s.prefix + key),
			VersionId: head.VersionId})
	}
	if err != nil && status(err) != 404 {
		return fmt.Errorf("erase object %q: %w", key, err)
	}
	return nil
}

// List gives at most limit keys that begin with a prefix and come after a key, in their order.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]string, error) {
	in := &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: aws.String(s.prefix + prefix),
		MaxKeys: aws.Int32(int32(min(limit, 1000)))}
	if after != "" {
		in.StartAfter = aws.String(s.prefix + after)
	}
	var keys []string
	for pages := s3.NewListObjectsV2Paginator(s.client, in); pages.HasMorePages() && len(keys) < limit; {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list objects: %w", err)
		}
		for _, o := range page.Contents {
			if len(keys) < limit {
				keys = append(keys, strings.TrimPrefix(aws.ToString(o.Key), s.prefix))
			}
		}
	}
	return keys, nil
}

// Ready reports whether the bucket is there. A role that may not ask has its answer, too.
func (s *Store) Ready(ctx context.Context) error {
	if _, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.bucket}); err != nil && status(err) != 403 {
		return fmt.Errorf("bucket %q cannot be used: %w", s.bucket, err)
	}
	return nil
}

// status gives the HTTP status of an answer; 0 when there was none.
func status(err error) int {
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) && answer.Response != nil {
		return answer.HTTPStatusCode()
	}
	return 0
}
