package pgstate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

func scanFunction(row pgx.Row) (execution.SavedFunction, error) {
	var f execution.SavedFunction
	raw, err := scanBytes(row)
	if errors.Is(err, pgx.ErrNoRows) {
		return f, execution.ErrNotFound
	}
	if err != nil {
		return f, err
	}
	if err := share.Decode(raw, &f); err != nil {
		return f, unreadable("a function", err)
	}
	return f, nil
}

// Function returns a saved function. The error is execution.ErrNotFound if there is none.
func (s *Store) Function(ctx context.Context, tenant, name string) (f execution.SavedFunction, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		f, err = scanFunction(s.pool.QueryRow(ctx, "SELECT doc FROM airlock.functions WHERE tenant = $1 AND name = $2",
			[]byte(tenant), []byte(name)))
		return err
	})
	return f, err
}

func (s *base) functions(ctx context.Context, query string,
	args ...any) (out []execution.SavedFunction, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		out, err = collect(ctx, s.pool, scanFunction, query, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	return out, nil
}

// Functions returns at most limit functions of a tenant in the order of names, starting after a name.
func (s *Store) Functions(ctx context.Context, tenant, after string, limit int) ([]execution.SavedFunction, error) {
	return s.functions(ctx, "SELECT doc FROM airlock.functions WHERE tenant = $1 AND name > $2 ORDER BY name LIMIT $3",
		[]byte(tenant), []byte(after), limit)
}

// Due returns at most limit functions whose next time has come, fairly: each tenant has its share of the limit.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]execution.SavedFunction, error) {
	return s.functions(ctx, fair("airlock.functions", "next", "t.next IS NOT NULL")+`
		SELECT f.doc FROM due, LATERAL (
			SELECT t.doc, t.next FROM airlock.functions t WHERE t.tenant = due.tenant AND t.next IS NOT NULL AND t.next <= $1
			ORDER BY t.next LIMIT `+part+`) f ORDER BY f.next LIMIT $2`, millis(now), limit)
}

// Scheduled returns at most limit functions with a schedule, due or not, in the order of tenants and names, starting
// after a tenant's name.
func (s *Store) Scheduled(ctx context.Context, tenant, name string, limit int) ([]execution.SavedFunction, error) {
	return s.functions(ctx, `SELECT doc FROM airlock.functions WHERE next IS NOT NULL AND (tenant, name) > ($1, $2)
		ORDER BY tenant, name LIMIT $3`, []byte(tenant), []byte(name), limit)
}

// Content returns the content of a version.
func (s *Store) Content(ctx context.Context, tenant, name string,
	version int) (c execution.FunctionContent, err error) {
	var raw []byte
	err = s.do(ctx, func(ctx context.Context) error {
		raw, err = scanBytes(s.pool.QueryRow(ctx,
			"SELECT content FROM airlock.versions WHERE tenant = $1 AND name = $2 AND version = $3", binary(),
			[]byte(tenant), []byte(name), version))
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return c, execution.ErrNotFound
	}
	if err == nil {
		if c, err = execution.DecodeContent(raw); err != nil {
			err = unreadable("a version", err)
		}
	}
	if err != nil {
		return c, fmt.Errorf("read version %d of function %q: %w", version, name, err)
	}
	return c, nil
}

// Change passes a function to fn, or an empty one with tenant and name, and stores the result in one transaction. fn
// may be called more than once. If fn returns content, it is that of the last version. If fn fails, nothing changes
// and its error is returned. The error is an *execution.QuotaError if the tenant's quota is exceeded.
func (s *Store) Change(ctx context.Context, tenant, name string,
	fn func(*execution.SavedFunction) (*execution.FunctionContent, error)) error {
	var own error
	token := rand.Text()
	err := s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockTenant(ctx, tx, tenant); err != nil {
			return err
		}
		var last string
		var raw []byte
		f := execution.SavedFunction{Tenant: tenant, Name: name}
		err := tx.QueryRow(ctx, "SELECT change, doc FROM airlock.functions WHERE tenant = $1 AND name = $2", []byte(tenant),
			[]byte(name)).Scan(&last, &raw)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
		case err != nil:
			return err
		case last == token: // an earlier attempt succeeded and its answer was lost
			return nil
		default:
			if err := share.Decode(raw, &f); err != nil {
				return unreadable("a function", err)
			}
		}
		content, err := fn(&f)
		if err != nil {
			own = err
			return err
		}
		return s.keepFunction(ctx, tx, f, content, token)
	})
	if own != nil {
		return own
	}
	if err != nil {
		return fmt.Errorf("save function %q: %w", name, err)
	}
	return nil
}

// keepFunction stores a function and the content of its last version within the tenant's quotas.
func (s *base) keepFunction(ctx context.Context, tx pgx.Tx, f execution.SavedFunction,
	content *execution.FunctionContent, token string) error {
	_, had, err := measure(ctx, tx, f.Tenant, "", execution.QuotaFunctions)
	if err != nil {
		return err
	}
	scheduled, _, err := measure(ctx, tx, f.Tenant, "", execution.QuotaSchedules)
	if err != nil {
		return err
	}
	if content != nil {
		parts, err := content.Stored()
		if err != nil {
			return err
		}
		_, err = execBytes(ctx, tx,
			"INSERT INTO airlock.versions (tenant, name, version, content) VALUES ($1, $2, $3, $4)",
			[]byte(f.Tenant), []byte(f.Name), f.Versions[len(f.Versions)-1].Version, parts.Bytes())
		if err != nil {
			return err
		}
	}
	doc, err := json.Marshal(f)
	if err != nil {
		return err
	}
	var next *int64
	if f.Schedule != nil {
		next = orNull(f.Schedule.Next)
	}
	_, err = tx.Exec(ctx, `INSERT INTO airlock.functions (tenant, name, next, change, doc) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant, name) DO UPDATE SET next = excluded.next, change = excluded.change, doc = excluded.doc`,
		[]byte(f.Tenant), []byte(f.Name), next, token, doc)
	if err != nil {
		return err
	}
	return measuring(ctx, tx).FunctionsWithin(f.Tenant, had, scheduled, content != nil, s.storage(f.Tenant))
}

// Delete deletes a function with all its versions and events.
func (s *Store) Delete(ctx context.Context, tenant, name string) error {
	again := false
	err := s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockTenant(ctx, tx, tenant); err != nil {
			return err
		}
		for _, table := range []string{"versions", "events"} {
			if _, err := tx.Exec(ctx, "DELETE FROM airlock."+table+" WHERE tenant = $1 AND name = $2", []byte(tenant),
				[]byte(name)); err != nil {
				return err
			}
		}
		tag, err := tx.Exec(ctx, "DELETE FROM airlock.functions WHERE tenant = $1 AND name = $2", []byte(tenant),
			[]byte(name))
		if err == nil && tag.RowsAffected() == 0 && !again {
			err = execution.ErrNotFound
		}
		again = again || err == nil // the answer to the first attempt may be lost
		return err
	})
	if err != nil {
		return fmt.Errorf("delete function %q: %w", name, err)
	}
	return nil
}
