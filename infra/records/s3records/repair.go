package s3records

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/audit"
)

// moves is the folder of the notes about records that were moved to another day.
const moves = "moves/"

// A move tells Verify that a record was filed under another day: the key that it had is free, its deletion there is no
// loss, and lifecycle rules treat it by its new day.
type move struct {
	audit.Move
	Key    string `json:"key"` // that it had
	Writer string `json:"writer"`
	Seq    int64  `json:"seq"`
	Hash   string `json:"hash"`
}

// moveNote is a stored list of moves before its sum.
type moveNote struct {
	Moves []move `json:"moves"`
}

// RepairDays files records that are filed under the wrong day under their own. It writes a note of the moves, which
// Verify reads, then the records under their new keys, and then deletes them under the old ones. After an interruption
// it can be called again. Gateways of releases that misfile records must have stopped.
func (s *Store) RepairDays(ctx context.Context) ([]audit.Move, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	if s.reader {
		return nil, errReader
	}
	days, err := s.days(ctx)
	var moved []audit.Move
	for _, day := range days {
		if err != nil {
			break
		}
		var some []audit.Move
		some, err = repair{s}.repairDay(ctx, day)
		moved = append(moved, some...)
	}
	if err != nil {
		return moved, fmt.Errorf("repair days of records: %w", err)
	}
	return moved, nil
}

// A repair is a RepairDays in progress.
type repair struct{ *Store }

func (s repair) repairDay(ctx context.Context, day string) (moved []audit.Move, err error) {
	for low := ""; ; {
		keys, whole, err := s.keys(ctx, day, low, "", 1000)
		if err != nil {
			return moved, err
		}
		if !whole {
			low = keys[len(keys)-1]
		}
		var strays []string // only a record whose ID has no time can be in the wrong place
		for _, key := range keys {
			name, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(key, s.dayPrefix(day)), suffix), besides)
			if at, ok := audit.IDTime(name); !ok || audit.Day(name, at) != day {
				strays = append(strays, key)
			}
		}
		some, err := s.refile(ctx, day, strays)
		if moved = append(moved, some...); err != nil || whole {
			return moved, err
		}
	}
}

// refile moves the records under keys of a day that belong to other days.
func (s repair) refile(ctx context.Context, day string, keys []string) (moved []audit.Move, err error) {
	var note moveNote
	lines := map[string][]byte{}
	err = s.lines(ctx, keys, func(key string, line []byte) error {
		r, err := audit.Unseal(line, s.cfg.Key)
		if err != nil || r.Day == day || !audit.ValidID(r.ID) {
			return nil // Verify reports what is altered
		}
		lines[key] = line
		note.Moves = append(note.Moves, move{audit.Move{ID: r.ID, From: day, To: r.Day}, key, r.Chain.Writer, r.Chain.Seq,
			r.Chain.Hash})
		return nil
	})
	if err != nil || len(note.Moves) == 0 {
		return nil, err
	}
	if err := s.putMoves(ctx, note); err != nil {
		return nil, err
	}
	for _, m := range note.Moves {
		to := s.dayPrefix(m.To) + strings.TrimPrefix(m.Key, s.dayPrefix(day))
		if err := s.put(ctx, to, lines[m.Key], true); err != nil {
			return moved, fmt.Errorf("%s: %w", to, err)
		}
		if _, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.cfg.Bucket, Key: &m.Key}); err != nil {
			return moved, fmt.Errorf("%s was copied to %s and not deleted: %w", m.Key, to, err)
		}
		moved = append(moved, m.Move)
	}
	return moved, nil
}

func (s repair) putMoves(ctx context.Context, note moveNote) error {
	doc, err := json.Marshal(note)
	if err != nil {
		return err
	}
	doc = audit.AppendSum(doc[:len(doc)-1], 0, s.cfg.Key)
	in := &s3.PutObjectInput{
		Bucket: &s.cfg.Bucket, Key: aws.String(s.root(moves + ulid.Make().String() + suffix)), Body: bytes.NewReader(doc),
		ContentType: aws.String("application/json"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	}
	s.encrypt(in)
	_, err = s.client.PutObject(ctx, in)
	return err
}

// moved returns the moves by the key that each record had.
func (s *Store) moved(ctx context.Context, v *audit.Verifier) (map[string]move, error) {
	all := map[string]move{}
	for page, err := range s3objects.Pages(ctx, s.client,
		&s3.ListObjectsV2Input{Bucket: &s.cfg.Bucket, Prefix: aws.String(s.root(moves))}) {
		if err != nil {
			return nil, err
		}
		var keys []string
		for _, o := range page.Contents {
			keys = append(keys, aws.ToString(o.Key))
		}
		err = s.lines(ctx, keys, func(key string, doc []byte) error {
			var note moveNote
			err := audit.CheckSum(doc, s.cfg.Key)
			if err == nil {
				err = json.Unmarshal(doc, &note)
			}
			if err != nil {
				v.Problem(audit.Problem{Fault: audit.Unreadable, Place: key,
					Detail: "this is not a note of moved records: " + err.Error()})
			}
			for _, m := range note.Moves {
				all[m.Key] = m
			}
			return nil
		})
		if err == nil && len(all) > maxMoves {
			err = fmt.Errorf("the notes name more than %d moved records", maxMoves)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// onDay is a day of a writer's chain.
type onDay struct{ writer, day string }

// movedDays returns the days that records of each writer were moved from. What a head says of those is not true.
func movedDays(all map[string]move) map[onDay]bool {
	days := map[onDay]bool{}
	for _, m := range all {
		days[onDay{m.Writer, m.From}] = true
	}
	return days
}
