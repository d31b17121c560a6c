package s3records

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/audit"
)

// Verify compares every record with its hash, its key and its chain, and the chains' ends with the writers' heads. In
// a bucket with versioning it also finds what was deleted or overwritten. It may run while records are written.
func (s *Store) Verify(ctx context.Context) (audit.Report, error) { return s.VerifyAgainst(ctx, nil) }

// VerifyAgainst verifies the chains against anchors too.
func (s *Store) VerifyAgainst(ctx context.Context, anchors []audit.Anchor) (audit.Report, error) {
	if err := s.usable(ctx); err != nil {
		return audit.Report{}, err
	}
	v := audit.NewVerifier(s.cfg.Key)
	gone := s.expiry(ctx)
	for _, a := range anchors {
		v.Anchor(a)
	}
	expired(v, anchors, gone)
	waiting, err := s.spooled()
	var away map[string]move
	if err == nil {
		away, err = s.moved(ctx, v)
	}
	if err == nil {
		err = s.verifyHeads(ctx, v, gone, away)
	}
	if err == nil {
		err = s.verifyVersions(ctx, v, gone, away)
	}
	var days []string
	if err == nil {
		days, err = s.days(ctx)
	}
	for _, day := range days {
		if err == nil {
			err = s.verifyDay(ctx, v, day, waiting)
		}
	}
	if err != nil {
		return audit.Report{}, fmt.Errorf("verify records: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(waiting)) {
		_, _ = v.Line(waiting[name], "spool/"+name, "") // the report names what is wrong
	}
	return v.Report(false), nil
}

// spooled returns the lines that wait on this machine, by file name.
func (s *Store) spooled() (map[string][]byte, error) {
	lines := map[string][]byte{}
	if s.cfg.Spool == "" {
		return lines, nil
	}
	names, err := filepath.Glob(filepath.Join(s.cfg.Spool, "*"+suffix))
	if err != nil {
		return nil, err
	}
	for _, path := range names {
		line, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lines[filepath.Base(path)] = line
	}
	return lines, nil
}

// verifyHeads checks how far the writers' heads reach. A head is written after its record, so it bounds a chain from
// below only. For days that lifecycle rules may have removed, it says which part of the chain they held.
func (s *Store) verifyHeads(ctx context.Context, v *audit.Verifier, gone expiry, away map[string]move) error {
	for _, m := range away {
		if gone.took(m.To) {
			v.Pruned(audit.Gap{From: m.Seq, Head: audit.Head{Writer: m.Writer, Seq: m.Seq, Hash: m.Hash}})
		}
	}
	days := movedDays(away)
	for page, err := range s3objects.Pages(ctx, s.client,
		&s3.ListObjectsV2Input{Bucket: &s.cfg.Bucket, Prefix: aws.String(s.root(writers))}) {
		if err != nil {
			return err
		}
		var keys []string
		for _, o := range page.Contents {
			keys = append(keys, aws.ToString(o.Key))
		}
		err = s.lines(ctx, keys, func(key string, doc []byte) error {
			n, err := readNote(doc, s.cfg.Key)
			if err == nil && key != s.root(writers+n.Writer+suffix) {
				err = fmt.Errorf("it belongs to %.40q", n.Writer)
			}
			if err != nil {
				v.Problem(audit.Problem{Fault: audit.Unreadable, Place: key, Detail: "this is not a writer's head: " + err.Error()})
				return nil
			}
			v.Bounds(n.Head, n.ID, audit.Head{Writer: n.Writer, Seq: 1<<63 - 1})
			for _, r := range n.Runs {
				if gone.took(r.Day) && !days[onDay{n.Writer, r.Day}] {
					v.Pruned(audit.Gap{From: r.From, Head: audit.Head{Writer: n.Writer, Seq: r.Seq, Hash: r.Hash}})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// verifyVersions reports every record with more than the one version that was written.
func (s *Store) verifyVersions(ctx context.Context, v *audit.Verifier, gone expiry, away map[string]move) error {
	state, err := s.client.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &s.cfg.Bucket})
	if s3objects.Status(err) == 403 || s3objects.Status(err) == 404 || s3objects.Status(err) == 501 ||
		err == nil && state.Status != types.BucketVersioningStatusEnabled {
		return nil
	}
	if err != nil {
		return err
	}
	for page, err := range s3objects.Versions(ctx, s.client,
		&s3.ListObjectVersionsInput{Bucket: &s.cfg.Bucket, Prefix: aws.String(s.root(executions))}) {
		if s3objects.Status(err) == 403 {
			return nil
		}
		if err != nil {
			return err
		}
		for _, m := range page.DeleteMarkers {
			if _, moved := away[aws.ToString(m.Key)]; moved || gone.took(s.dayOf(aws.ToString(m.Key))) {
				continue // the chain shows whether a moved record is there
			}
			s.tampered(v, audit.Missing, m.Key, "it was deleted at "+aws.ToTime(m.LastModified).UTC().String())
		}
		for _, o := range page.Versions {
			_, moved := away[aws.ToString(o.Key)]
			if !moved && !aws.ToBool(o.IsLatest) && !gone.took(s.dayOf(aws.ToString(o.Key))) {
				s.tampered(v, audit.Altered, o.Key,
					"an earlier version of it is there, written at "+aws.ToTime(o.LastModified).UTC().String())
			}
		}
	}
	return nil
}

func (s *Store) tampered(v *audit.Verifier, fault audit.Fault, key *string, detail string) {
	name := aws.ToString(key)
	id := strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], suffix)
	v.Problem(audit.Problem{Fault: fault, ID: id, Place: name, Detail: detail})
}

func (s *Store) verifyDay(ctx context.Context, v *audit.Verifier, day string, waiting map[string][]byte) error {
	prefix := s.dayPrefix(day)
	for low := ""; ; {
		keys, whole, err := s.keys(ctx, day, low, "", 1000)
		if err != nil {
			return err
		}
		err = s.lines(ctx, keys, func(key string, line []byte) error {
			if line == nil {
				return nil // deleted while we looked; its chain knows
			}
			name, _, beside := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(key, prefix), suffix), besides)
			if !strings.HasSuffix(key, suffix) || !audit.ValidID(name) {
				v.Problem(audit.Problem{Fault: audit.Unknown, Place: key, Detail: "this object is not named like a record"})
				return nil
			}
			r, err := v.Line(line, key, "")
			if err == nil && r.ID != name {
				v.Problem(audit.Problem{Fault: audit.Altered, ID: name, Place: key,
					Detail: fmt.Sprintf("the object holds record %.40q", r.ID)})
			}
			if err == nil {
				v.Filed(r, day, key)
			}
			if err == nil && (beside || r.ID == name) {
				delete(waiting, fmt.Sprintf("%s.%020d.%s%s", r.Chain.Writer, r.Chain.Seq, r.ID, suffix))
			}
			return nil
		})
		if err != nil || whole {
			return err
		}
		low = keys[len(keys)-1]
	}
}
