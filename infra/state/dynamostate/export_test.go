package dynamostate

import "context"

// Die ends a process as a kill does: its heartbeat stays.
func (s *Store) Die() { s.beat.end() }

// Beat writes a heartbeat and looks at those of others.
func (s *Store) Beat(ctx context.Context) error {
	if err := s.beat.register(ctx); err != nil {
		return err
	}
	return s.beat.look(ctx)
}
