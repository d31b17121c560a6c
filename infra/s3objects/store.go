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
	// ErrMissing means that there is no object with the key.
	ErrMissing = errors.New("there is no such object")
	// ErrChanged means that the object has changed since it was read, or exists already.
	ErrChanged = errors.New("the object has changed meanwhile")
)

// A Store holds the objects below one prefix of a bucket. It is safe for concurrent use, by any number of processes.
type Store struct {
	bucket, prefix string
	client         *s3.Client
}

// Open returns the store at a URL, s3://bucket/prefix. It sends no request. Attempts default to 4 of 20 s each.
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

// Create stores body under a free key and returns its tag; ErrChanged means that the key is taken. It succeeds if an
// earlier attempt whose answer was lost created the object, or if the object has the same bytes.
func (s *Store) Create(ctx context.Context, key string, body []byte) (tag string, err error) {
	return s.CreateParts(ctx, key, [][]byte{body})
}

// CreateParts stores parts that follow one another as Create stores their bytes. It does not copy them.
func (s *Store) CreateParts(ctx context.Context, key string, body [][]byte) (tag string, err error) {
	for range conflicts {
		if tag, err = s.put(ctx, key, body, ""); err == nil {
			return tag, nil
		}
		// A server may refuse a large object before it has read it and hang up, which loses the refusal.
		silent := Status(err) == 0 && !errors.Is(err, ErrChanged)
		if !silent && !errors.Is(err, ErrChanged) {
			return "", err
		}
		there, tag, reading := s.Get(ctx, key, newParts(body).size)
		switch {
		case reading == nil && bytes.Equal(there, bytes.Join(body, nil)):
			return tag, nil
		case silent || !errors.Is(reading, ErrMissing):
			return "", err
		}
		// The key is free: S3 refused because of a concurrent request (409), or the object was deleted meanwhile.
		wait := time.NewTimer(10 * time.Millisecond)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return "", ctx.Err()
		}
	}
	return "", fmt.Errorf("store object %q: other writers change it all the time", key)
}

// conflicts is the number of attempts at a key that is free and still refused.
const conflicts = 50

// Replace replaces the object that Get returned tag for, and returns the new tag; ErrChanged means that it has
// changed or is gone.
func (s *Store) Replace(ctx context.Context, key string, body []byte, tag string) (string, error) {
	return s.put(ctx, key, [][]byte{body}, tag)
}

func (s *Store) put(ctx context.Context, key string, parts [][]byte, tag string) (string, error) {
	body := newParts(parts)
	in := &s3.PutObjectInput{
		Bucket: &s.bucket, Key: aws.String(s.prefix + key), Body: body,
		ContentLength: aws.Int64(body.size),
		ContentType:   aws.String("application/json"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	}
	if tag == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = &tag
	}
	out, err := s.client.PutObject(ctx, in)
	switch code := Status(err); {
	case err == nil:
		return aws.ToString(out.ETag), nil
	case code == 409 || code == 412 || code == 404 && tag != "":
		return "", ErrChanged
	}
	return "", fmt.Errorf("store object %q: %w", key, err)
}

// Get returns an object and its tag; ErrMissing means that there is none. An object of more than most bytes is an
// error.
func (s *Store) Get(ctx context.Context, key string, most int64) (body []byte, tag string, err error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: aws.String(s.prefix + key),
		ChecksumMode: types.ChecksumModeEnabled})
	if Status(err) == 404 {
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

// Delete deletes an object, if there is one.
func (s *Store) Delete(ctx context.Context, key string) error {
	if _, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket,
		Key: aws.String(s.prefix + key)}); err != nil && Status(err) != 404 {
		return fmt.Errorf("delete object %q: %w", key, err)
	}
	return nil
}

// List returns at most limit keys with a prefix, after a key, in their order.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]string, error) {
	in := &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: aws.String(s.prefix + prefix),
		MaxKeys: aws.Int32(int32(min(limit, 1000)))}
	if after != "" {
		in.StartAfter = aws.String(s.prefix + after)
	}
	var keys []string
	for page, err := range Pages(ctx, s.client, in) {
		if err != nil {
			return nil, fmt.Errorf("list objects: %w", err)
		}
		for _, o := range page.Contents {
			if len(keys) < limit {
				keys = append(keys, strings.TrimPrefix(aws.ToString(o.Key), s.prefix))
			}
		}
		if len(keys) == limit {
			break
		}
	}
	return keys, nil
}

// Size returns the number of bytes of the objects with a prefix.
func (s *Store) Size(ctx context.Context, prefix string) (bytes int64, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: aws.String(s.prefix + prefix)}
	for page, err := range Pages(ctx, s.client, in) {
		if err != nil {
			return 0, fmt.Errorf("list objects: %w", err)
		}
		for _, o := range page.Contents {
			bytes += aws.ToInt64(o.Size)
		}
	}
	return bytes, nil
}

// Ready returns an error if the bucket is not available. A role without the right to ask is fine.
func (s *Store) Ready(ctx context.Context) error {
	if _, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.bucket}); err != nil && Status(err) != 403 {
		return fmt.Errorf("bucket %q cannot be used: %w", s.bucket, err)
	}
	return nil
}

// Status returns the HTTP status of an error; 0 if there was no answer.
func Status(err error) int {
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) && answer.Response != nil {
		return answer.HTTPStatusCode()
	}
	return 0
}
