package sqlitestate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// Begin takes the key of a webhook delivery, or of a request, until a time. When it is taken already, begun is false and
// the mark it was taken with and the answer it was given (nil while it is being answered) are those of the first. When the
// process that took it has died without an answer, begun is true and the mark is still the first.
func (s *Store) Begin(ctx context.Context, key, mark string, now, until time.Time) (begun bool, firstMark string, answer []byte, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		var owner string
		var end int64
		row := tx.QueryRowContext(ctx, "SELECT mark, until, owner, answer FROM deliveries WHERE key = ?", key)
		switch err := row.Scan(&firstMark, &end, &owner, &answer); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case end > millis(now) && (answer != nil || owner == s.owner || !ownerGone(filepath.Join(s.dir, ownersFolder, filepath.Base(owner)))):
			return nil
		}
		if begun, answer = true, nil; firstMark == "" || end <= millis(now) {
			firstMark = mark
		}
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO deliveries (key, mark, until, owner) VALUES (?, ?, ?, ?)", key, firstMark, millis(until), s.owner)
		return err
	})
	if err != nil {
		return false, "", nil, fmt.Errorf("take a delivery: %w", err)
	}
	return begun, firstMark, answer, nil
}

// Finish keeps the answer to a delivery that Begin gave.
func (s *Store) Finish(ctx context.Context, key string, answer []byte) error {
	if _, err := s.db.ExecContext(ctx, "UPDATE deliveries SET answer = ? WHERE key = ?", answer, key); err != nil {
		return fmt.Errorf("keep the answer to a delivery: %w", err)
	}
	return nil
}

// Abandon gives a key back: the delivery came to nothing and may be made again.
func (s *Store) Abandon(ctx context.Context, key string) error {
	if _, err := s.db.ExecContext(ctx, "DELETE FROM deliveries WHERE key = ? AND answer IS NULL", key); err != nil {
		return fmt.Errorf("give a delivery back: %w", err)
	}
	return nil
}

// keptEvents is how many events of one function are kept, the newest.
const keptEvents = 100

// KeepEvent keeps the event of a delivery under the execution that it began. Older ones of the function make room.
func (s *Store) KeepEvent(ctx context.Context, tenant, function, id string, event []byte, at time.Time) error {
	err := s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO events (tenant, name, id, at, event) VALUES (?, ?, ?, ?, ?)", tenant, function, id, millis(at), event)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM events WHERE tenant = ?1 AND name = ?2 AND id NOT IN
			(SELECT id FROM events WHERE tenant = ?1 AND name = ?2 ORDER BY at DESC, rowid DESC LIMIT ?3)`, tenant, function, keptEvents)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep an event: %w", err)
	}
	return nil
}

// Event gives an event that is still kept, or execution.ErrNotFound.
func (s *Store) Event(ctx context.Context, tenant, function, id string) (event []byte, err error) {
	row := s.db.QueryRowContext(ctx, "SELECT event FROM events WHERE tenant = ? AND name = ? AND id = ?", tenant, function, id)
	switch err := row.Scan(&event); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, execution.ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("read an event: %w", err)
	}
	return event, nil
}
