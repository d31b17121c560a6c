package filerecords

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/airlock-run/airlock/policy/audit"
)

// Heads returns the newest certain record of each writer, sorted by writer, without the chains that retention has
// removed whole. An anchor holds them: a later state of the folder has them all.
func (s *Store) Heads(ctx context.Context) ([]audit.Head, error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.root < 0 {
		return nil, ErrClosed
	}
	known, err := s.account()
	if err != nil {
		return nil, fmt.Errorf("read the heads of the writers: %w", err)
	}
	if len(known.problems) > 0 {
		return nil, fmt.Errorf("read the heads of the writers: %s", known.problems[0])
	}
	heads := make([]audit.Head, 0, len(known.heads))
	for _, writer := range slices.Sorted(maps.Keys(known.heads)) {
		last, id := known.heads[writer].certain()
		if last.ID = id; last.Seq > 0 {
			heads = append(heads, last)
		}
	}
	return audit.Pruning(heads, known.gaps), ctx.Err()
}
