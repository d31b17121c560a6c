package dynamostate

import "context"

// Die ends a process as a kill does: its heartbeat stays.
func (s *Store) Die() { s.beat.end() }

// Keep sets how many bytes one query may keep in memory.
func (s *Store) Keep(most int) { s.mostKept = most }

// Beat writes a heartbeat and looks at those of others.
func (s *Store) Beat(ctx context.Context) error {
	if err := s.beat.register(ctx); err != nil {
		return err
	}
	return s.beat.look(ctx)
}

// SnapshotObject returns the key of the object that holds the snapshot of a job, or "".
func (s *Store) SnapshotObject(ctx context.Context, id string) string {
	it, _ := s.get(ctx, jobKey(id))
	return textOf(it["snapshot"])
}
