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

// Begin takes the key of a webhook delivery or of a request until a time. If the key is taken, begun is false, and
// firstMark and answer are those of the first taker; answer is nil until it has answered. If the process that took it
// has died without an answer, begun is true and firstMark is still its mark.
func (s *Store) Begin(ctx context.Context, key execution.Key, mark string, now,
	until time.Time) (begun bool, firstMark string, answer []byte, err error) {
	allowed := s.storage(key.Tenant)
	if key.Quota == execution.QuotaKeys {
		until = earlier(until, now.Add(allowed.KeepKeys))
	}
	err = s.change(ctx, func(tx *sql.Tx) error {
		var owner string
		var end int64
		row := tx.QueryRowContext(ctx, "SELECT mark, until, owner, answer FROM deliveries WHERE key = ?", key.Name)
		switch err := row.Scan(&firstMark, &end, &owner, &answer); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case end > millis(now) && (answer != nil || owner == s.owner ||
			!ownerGone(filepath.Join(s.dir, ownersFolder, filepath.Base(owner)))):
			return nil
		}
		if begun, answer = true, nil; firstMark == "" || end <= millis(now) {
			firstMark = mark
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO deliveries (key, mark, until, owner, tenant, subject, kind)
			VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET mark = excluded.mark, until = excluded.until, owner = excluded.owner, answer = NULL,
			tenant = excluded.tenant, subject = excluded.subject, kind = excluded.kind`,
			key.Name, firstMark, millis(until), s.owner, key.Tenant, key.Subject, quotaOf(key))
		if err != nil {
			return err
		}
		return s.keyWithin(ctx, tx, key, now, int64(len(key.Name)+len(firstMark)+rowBytes))
	})
	if err != nil {
		return false, "", nil, fmt.Errorf("take a delivery: %w", err)
	}
	return begun, firstMark, answer, nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// quotaOf returns the quota of a key; one that names none is a request's.
func quotaOf(key execution.Key) string {
	if key.Quota == execution.QuotaDeliveries {
		return key.Quota
	}
	return execution.QuotaKeys
}

// keyWithin returns an error if a key that was just added exceeds its tenant's quota, after expired keys are removed.
func (s *Store) keyWithin(ctx context.Context, tx *sql.Tx, key execution.Key, now time.Time, bytes int64) error {
	if err := s.roomForMore(ctx, tx); err != nil {
		return err
	}
	quota, allowed := quotaOf(key), s.storage(key.Tenant)
	most := allowed.Keys
	if quota == execution.QuotaDeliveries {
		most = allowed.Deliveries
		if err := s.makeRoomForDeliveries(ctx, tx, key.Tenant); err != nil {
			return err
		}
	}
	err := measuring(ctx, tx).Within(quota, key.Tenant, key.Subject, bytes, most, 0, quota)
	if err == nil {
		return nil
	}
	_, failed := tx.ExecContext(ctx, `DELETE FROM deliveries WHERE key IN
		(SELECT key FROM deliveries WHERE tenant = ? AND kind = ? AND until <= ? LIMIT ?)`,
		key.Tenant, quota, millis(now), rowsAtOnce)
	if failed != nil {
		return failed
	}
	after := soonestEnd(ctx, tx, key.Tenant, quota, now)
	return measuring(ctx, tx).Within(quota, key.Tenant, key.Subject, bytes, most, after, quota)
}

// soonestEnd returns when the first of a tenant's keys expires, between a second and an hour.
func soonestEnd(ctx context.Context, tx *sql.Tx, tenant, quota string, now time.Time) time.Duration {
	var until sql.NullInt64
	row := tx.QueryRowContext(ctx, "SELECT min(until) FROM deliveries WHERE tenant = ? AND kind = ?", tenant, quota)
	if err := row.Scan(&until); err != nil || !until.Valid {
		return time.Minute // a guess is as good
	}
	return min(max(time.UnixMilli(until.Int64).Sub(now), time.Second), time.Hour)
}

// Finish stores the answer to a delivery that Begin has taken.
func (s *Store) Finish(ctx context.Context, key string, answer []byte) error {
	if err := s.exec(ctx, "UPDATE deliveries SET answer = ? WHERE key = ?", answer, key); err != nil {
		return fmt.Errorf("store the answer to a delivery: %w", err)
	}
	return nil
}

// Abandon releases a key, so that the delivery may be repeated.
func (s *Store) Abandon(ctx context.Context, key string) error {
	if err := s.exec(ctx, "DELETE FROM deliveries WHERE key = ? AND answer IS NULL", key); err != nil {
		return fmt.Errorf("release a delivery: %w", err)
	}
	return nil
}

// keptEvents is the number of newest events that are kept of a function.
const keptEvents = 100

// KeepEvent stores the event of a delivery under the execution that it started. It removes older events of the
// function, and the oldest of the tenant above its quota.
func (s *Store) KeepEvent(ctx context.Context, tenant, function, id string, event []byte, at time.Time) error {
	err := s.filed(ctx, func(tx *sql.Tx, files *filing) error {
		if err := putEvent(ctx, tx, files, tenant, function, id, event, at); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM events WHERE tenant = ?1 AND name = ?2 AND id NOT IN
			(SELECT id FROM events WHERE tenant = ?1 AND name = ?2 ORDER BY at DESC, rowid DESC LIMIT ?3)`,
			tenant, function, keptEvents)
		if err != nil {
			return err
		}
		return s.makeRoomForDeliveries(ctx, tx, tenant)
	})
	if err != nil {
		return fmt.Errorf("store an event: %w", err)
	}
	if len(event) >= ofOwn {
		_ = s.unlink(ctx) // of an older event; the next Prune tries again
	}
	return nil
}

// putEvent stores an event, or replaces it.
func putEvent(
	ctx context.Context, tx *sql.Tx, files *filing, tenant, function, id string, event []byte, at time.Time,
) error {
	k, err := files.keep(execution.Stored{event})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO events (tenant, name, id, at, event, file, file_bytes)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, name, id) DO UPDATE SET at = excluded.at, event = excluded.event, file = excluded.file,
		file_bytes = excluded.file_bytes`, tenant, function, id, millis(at), k.value, k.file, k.bytes)
	return err
}

// Event returns a stored event, or execution.ErrNotFound.
func (s *Store) Event(ctx context.Context, tenant, function, id string) (event []byte, err error) {
	err = loading(func() error {
		return s.read(ctx, func() error {
			const query = "SELECT event, file, file_bytes FROM events WHERE tenant = ? AND name = ? AND id = ?"
			var k kept
			err := s.db.QueryRowContext(ctx, query, tenant, function, id).Scan(&k.value, &k.file, &k.bytes)
			if errors.Is(err, sql.ErrNoRows) {
				return execution.ErrNotFound
			}
			if err != nil {
				return err
			}
			event, err = s.load(k)
			return err
		})
	})
	if err != nil && !errors.Is(err, execution.ErrNotFound) {
		return nil, fmt.Errorf("read an event: %w", err)
	}
	return event, err
}
