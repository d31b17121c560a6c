package sqlitestate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Begin takes the key of a webhook delivery until a time. When it is taken already, begun is false and the mark it was
// taken with and the answer it was given (nil while it is being answered) are those of the first.
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
		begun, firstMark, answer = true, mark, nil
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO deliveries (key, mark, until, owner) VALUES (?, ?, ?, ?)", key, mark, millis(until), s.owner)
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
