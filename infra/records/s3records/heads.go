package s3records

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/audit"
)

// Heads returns the newest record of each writer that its head names, sorted by writer, without the chains that
// lifecycle rules may have removed whole. A head is written after its record, so a later state of the bucket has them
// all.
func (s *Store) Heads(ctx context.Context) ([]audit.Head, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	gone := s.expiry(ctx)
	var heads []audit.Head
	for page, err := range s3objects.Pages(ctx, s.client,
		&s3.ListObjectsV2Input{Bucket: &s.cfg.Bucket, Prefix: aws.String(s.root(writers))}) {
		if err != nil {
			return nil, fmt.Errorf("read the heads of the writers: %w", err)
		}
		var keys []string
		for _, o := range page.Contents {
			keys = append(keys, aws.ToString(o.Key))
		}
		err = s.lines(ctx, keys, func(key string, doc []byte) error {
			if doc == nil {
				return nil // it expired while we looked
			}
			n, err := readNote(doc, s.cfg.Key)
			if err != nil || key != s.root(writers+n.Writer+suffix) {
				return fmt.Errorf("%s is not a writer's head", key)
			}
			if at, ok := audit.IDTime(n.ID); n.Seq > 0 && !(ok && gone.took(audit.Day(n.ID, at))) {
				heads = append(heads, audit.Head{Writer: n.Writer, Seq: n.Seq, Hash: n.Hash, ID: n.ID})
			}
			return nil
		})
		if err == nil && len(heads) > maxHeads {
			err = fmt.Errorf("there are more than %d", maxHeads)
		}
		if err != nil {
			return nil, fmt.Errorf("read the heads of the writers: %w", err)
		}
	}
	slices.SortFunc(heads, func(a, b audit.Head) int { return strings.Compare(a.Writer, b.Writer) })
	return heads, nil
}

// expired marks the anchored records that lifecycle rules may have removed with everything before them, including the
// writer's head.
func expired(v *audit.Verifier, anchors []audit.Anchor, gone expiry) {
	for _, a := range anchors {
		for _, h := range a.Heads {
			if at, ok := audit.IDTime(h.ID); ok && gone.took(audit.Day(h.ID, at)) {
				v.Pruned(audit.Gap{From: 1, Head: h})
			}
		}
	}
}
