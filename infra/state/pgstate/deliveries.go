package pgstate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
)

// Begin takes the key of a webhook delivery or of a request until a time. If the key is taken, begun is false, and
// firstMark and answer are those of the first taker; answer is nil until it has answered. If the process that took it
// has died without an answer, begun is true and firstMark is still its mark.
func (s *Store) Begin(ctx context.Context, key execution.Key, mark string, now,
	until time.Time) (begun bool, firstMark string, answer []byte, err error) {
	allowed := s.storage(key.Tenant)
	if last := now.Add(allowed.KeepKeys); key.Quota == execution.QuotaKeys && last.Before(until) {
		until = last
	}
	k := newKey{key: key, claim: rand.Text(), now: now, until: until}
	err = s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		begun, firstMark, answer, err = s.begin(ctx, tx, k, mark)
		return err
	})
	if err != nil {
		return false, "", nil, fmt.Errorf("take a delivery: %w", err)
	}
	return begun, firstMark, answer, nil
}

// A newKey is a key to take.
type newKey struct {
	key        execution.Key
	claim      string
	now, until time.Time
}

func (s *Store) begin(ctx context.Context, tx pgx.Tx, k newKey, mark string) (bool, string, []byte, error) {
	tag, err := tx.Exec(ctx, `INSERT INTO airlock.deliveries (key, mark, until, owner, claim, tenant, subject, kind)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (key) DO NOTHING`, []byte(k.key.Name), []byte(mark),
		millis(k.until), s.id, k.claim, []byte(k.key.Tenant), []byte(k.key.Subject), quotaOf(k.key))
	if err != nil {
		return false, "", nil, err
	}
	if tag.RowsAffected() == 1 {
		return true, mark, nil, s.keyWithin(ctx, tx, k, int64(len(k.key.Name)+len(mark)+rowBytes))
	}
	var first, answer []byte
	var end int64
	var owner, claim string
	var lives bool
	err = tx.QueryRow(ctx, `SELECT mark, until, owner, claim, answer, owner IN (`+live+`)
		FROM airlock.deliveries WHERE key = $2 FOR UPDATE`, s.cfg.DeadAfter.Seconds(), []byte(k.key.Name)).
		Scan(&first, &end, &owner, &claim, &answer, &lives)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, "", nil, errMoved // it was released meanwhile
	case err != nil:
		return false, "", nil, err
	case claim == k.claim: // an earlier attempt succeeded and its answer was lost
		return true, string(first), nil, nil
	case end > millis(k.now) && (answer != nil || owner == s.id || lives || !s.isSteady()):
		return false, string(first), answer, nil
	case end <= millis(k.now) || len(first) == 0:
		first = []byte(mark)
	}
	_, err = tx.Exec(ctx, `UPDATE airlock.deliveries SET mark = $2, until = $3, owner = $4, claim = $5, answer = NULL,
		tenant = $6, subject = $7, kind = $8 WHERE key = $1`, []byte(k.key.Name), first, millis(k.until), s.id, k.claim,
		[]byte(k.key.Tenant), []byte(k.key.Subject), quotaOf(k.key))
	if err != nil {
		return false, "", nil, err
	}
	return true, string(first), nil, s.keyWithin(ctx, tx, k, int64(len(k.key.Name)+len(first)+rowBytes))
}

// quotaOf returns the quota of a key; one that names none is a request's.
func quotaOf(key execution.Key) string {
	if key.Quota == execution.QuotaDeliveries {
		return key.Quota
	}
	return execution.QuotaKeys
}

// keyWithin returns an error if a key that was just added exceeds its tenant's quota, after expired keys are removed.
func (s *base) keyWithin(ctx context.Context, tx pgx.Tx, k newKey, bytes int64) error {
	quota, tenant, allowed := quotaOf(k.key), k.key.Tenant, s.storage(k.key.Tenant)
	most := allowed.Keys
	if quota == execution.QuotaDeliveries {
		most = allowed.Deliveries
	}
	if _, used, err := measure(ctx, tx, tenant, "", quota); err != nil || used <= most/2 && bytes <= most/64 {
		return err
	}
	if err := lockTenant(ctx, tx, tenant); err != nil {
		return err
	}
	if quota == execution.QuotaDeliveries {
		if err := s.makeRoomForDeliveries(ctx, tx, tenant); err != nil {
			return err
		}
	}
	err := measuring(ctx, tx).Within(quota, tenant, k.key.Subject, bytes, most, 0, quota)
	if over := (*execution.QuotaError)(nil); !errors.As(err, &over) {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM airlock.deliveries WHERE key IN (SELECT key FROM airlock.deliveries
		WHERE tenant = $1 AND kind = $2 AND until <= $3 LIMIT 500 FOR UPDATE SKIP LOCKED)`, []byte(tenant), quota,
		millis(k.now)); err != nil {
		return err
	}
	var soonest *int64
	if err := tx.QueryRow(ctx, "SELECT min(until) FROM airlock.deliveries WHERE tenant = $1 AND kind = $2",
		[]byte(tenant), quota).Scan(&soonest); err != nil {
		return err
	}
	after := time.Minute
	if soonest != nil {
		after = min(max(time.UnixMilli(*soonest).Sub(k.now), time.Second), time.Hour)
	}
	return measuring(ctx, tx).Within(quota, tenant, k.key.Subject, bytes, most, after, quota)
}

// Finish stores the answer to a delivery that Begin has taken.
func (s *Store) Finish(ctx context.Context, key string, answer []byte) error {
	_, err := s.exec(ctx, "UPDATE airlock.deliveries SET answer = $1 WHERE key = $2", answer, []byte(key))
	if err != nil {
		return fmt.Errorf("store the answer to a delivery: %w", err)
	}
	return nil
}

// Abandon releases a key, so that the delivery may be repeated.
func (s *Store) Abandon(ctx context.Context, key string) error {
	_, err := s.exec(ctx, "DELETE FROM airlock.deliveries WHERE key = $1 AND answer IS NULL", []byte(key))
	if err != nil {
		return fmt.Errorf("release a delivery: %w", err)
	}
	return nil
}

// keptEvents is the number of newest events that are kept of a function.
const keptEvents = 100

// KeepEvent stores the event of a delivery under the execution that it started. It removes older events of the
// function, and the oldest of the tenant above its quota.
func (s *Store) KeepEvent(ctx context.Context, tenant, function, id string, event []byte, at time.Time) error {
	err := s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO airlock.events (tenant, name, id, at, event) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tenant, name, id) DO UPDATE SET at = excluded.at, event = excluded.event`,
			[]byte(tenant), []byte(function), []byte(id), millis(at), event)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM airlock.events WHERE seq IN (SELECT seq FROM airlock.events
			WHERE tenant = $1 AND name = $2 ORDER BY at DESC, seq DESC OFFSET $3) AND tenant = $1 AND name = $2`,
			[]byte(tenant), []byte(function), keptEvents)
		if err != nil {
			return err
		}
		return s.makeRoomForDeliveries(ctx, tx, tenant)
	})
	if err != nil {
		return fmt.Errorf("store an event: %w", err)
	}
	return nil
}

// Event returns a stored event, or execution.ErrNotFound.
func (s *Store) Event(ctx context.Context, tenant, function, id string) (event []byte, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		event, err = scanBytes(s.pool.QueryRow(ctx,
			"SELECT event FROM airlock.events WHERE tenant = $1 AND name = $2 AND id = $3", []byte(tenant), []byte(function),
			[]byte(id)))
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, execution.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read an event: %w", err)
	}
	return event, nil
}
