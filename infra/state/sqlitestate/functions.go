package sqlitestate

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// Function returns a saved function. The error is execution.ErrNotFound if there is none.
func (s *Store) Function(ctx context.Context, tenant, name string) (f execution.SavedFunction, err error) {
	err = s.read(ctx, func() error {
		f, err = scanFunction(s.db.QueryRowContext(ctx, "SELECT doc FROM functions WHERE tenant = ? AND name = ?", tenant,
			name))
		return err
	})
	return f, err
}

// Functions returns at most limit functions of a tenant in the order of names, starting after a name.
func (s *Store) Functions(ctx context.Context, tenant, after string, limit int) ([]execution.SavedFunction, error) {
	return s.functions(ctx, "SELECT doc FROM functions WHERE tenant = ? AND name > ? ORDER BY name LIMIT ?", tenant, after,
		limit)
}

// Due returns at most limit functions whose next time has come, fairly: each tenant has its share of the limit.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]execution.SavedFunction, error) {
	tenants, part, err := s.dueTenants(ctx, schedules(), now, limit)
	if err != nil {
		return nil, fmt.Errorf("look for schedules: %w", err)
	}
	var out []execution.SavedFunction
	for _, tenant := range tenants {
		const query = "SELECT doc FROM functions WHERE tenant = ? AND next IS NOT NULL AND next <= ? ORDER BY next LIMIT ?"
		due, err := s.functions(ctx, query, tenant, millis(now), min(part, limit-len(out)))
		if err != nil {
			return nil, err
		}
		if out = append(out, due...); len(out) >= limit {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b execution.SavedFunction) int { return a.Schedule.Next.Compare(b.Schedule.Next) })
	return out, nil
}

// Scheduled returns at most limit functions with a schedule, due or not, in the order of tenants and names, starting
// after a tenant's name.
func (s *Store) Scheduled(ctx context.Context, tenant, name string, limit int) ([]execution.SavedFunction, error) {
	const query = "SELECT doc FROM functions WHERE next IS NOT NULL AND (tenant, name) > (?, ?) ORDER BY tenant, name " +
		"LIMIT ?"
	return s.functions(ctx, query, tenant, name, limit)
}

// Content returns the content of a version.
func (s *Store) Content(ctx context.Context, tenant, name string, version int) (execution.FunctionContent, error) {
	var c execution.FunctionContent
	err := loading(func() error {
		return s.read(ctx, func() error {
			const query = "SELECT content, file, file_bytes FROM versions WHERE tenant = ? AND name = ? AND version = ?"
			var k kept
			err := s.db.QueryRowContext(ctx, query, tenant, name, version).Scan(&k.value, &k.file, &k.bytes)
			if errors.Is(err, sql.ErrNoRows) {
				return execution.ErrNotFound
			}
			if err != nil {
				return err
			}
			raw, err := s.load(k)
			if err != nil {
				return err
			}
			if c, err = execution.DecodeContent(raw); err != nil {
				return unreadable("a version", err)
			}
			return nil
		})
	})
	if err != nil && !errors.Is(err, execution.ErrNotFound) {
		return c, fmt.Errorf("read version %d of function %q: %w", version, name, err)
	}
	return c, err
}

// Change passes a function to fn, or an empty one with tenant and name, and stores the result in one transaction. If
// fn returns content, it is that of the last version. If fn fails, nothing changes and its error is returned. The
// error is an *execution.QuotaError if the tenant's quota is exceeded.
func (s *Store) Change(ctx context.Context, tenant, name string,
	fn func(*execution.SavedFunction) (*execution.FunctionContent, error)) error {
	var own error
	err := s.filed(ctx, func(tx *sql.Tx, files *filing) error {
		f, err := scanFunction(tx.QueryRowContext(ctx, "SELECT doc FROM functions WHERE tenant = ? AND name = ?", tenant,
			name))
		if errors.Is(err, execution.ErrNotFound) {
			f, err = execution.SavedFunction{Tenant: tenant, Name: name}, nil
		}
		if err != nil {
			return err
		}
		content, err := fn(&f)
		if err != nil {
			own = err
			return err
		}
		return s.keepFunction(ctx, tx, files, f, content)
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
func (s *Store) keepFunction(ctx context.Context, tx *sql.Tx, files *filing, f execution.SavedFunction,
	content *execution.FunctionContent) error {
	_, had, err := measure(ctx, tx, f.Tenant, "", execution.QuotaFunctions)
	if err != nil {
		return err
	}
	scheduled, _, err := measure(ctx, tx, f.Tenant, "", execution.QuotaSchedules)
	if err != nil {
		return err
	}
	if content != nil {
		last := f.Versions[len(f.Versions)-1].Version
		if err := keepVersion(ctx, tx, files, f, last, *content); err != nil {
			return err
		}
	}
	doc, err := json.Marshal(f)
	if err != nil {
		return err
	}
	var next sql.NullInt64
	if f.Schedule != nil {
		next = orNull(f.Schedule.Next)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO functions (tenant, name, next, doc) VALUES (?, ?, ?, ?)
		ON CONFLICT (tenant, name) DO UPDATE SET next = excluded.next, doc = excluded.doc`, f.Tenant, f.Name, next, doc)
	if err != nil {
		return err
	}
	use := measuring(ctx, tx)
	_, has, err := use(f.Tenant, "", execution.QuotaFunctions)
	if err == nil && has > had {
		err = s.roomForMore(ctx, tx)
	}
	if err != nil {
		return err
	}
	return use.FunctionsWithin(f.Tenant, had, scheduled, content != nil, s.storage(f.Tenant))
}

// keepVersion stores the content of a version, or replaces it.
func keepVersion(ctx context.Context, tx *sql.Tx, files *filing, f execution.SavedFunction, version int,
	content execution.FunctionContent) error {
	parts, err := content.Stored()
	if err != nil {
		return err
	}
	k, err := files.keep(parts)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO versions (tenant, name, version, content, file, file_bytes)
		VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, name, version) DO UPDATE SET content = excluded.content,
		file = excluded.file, file_bytes = excluded.file_bytes`, f.Tenant, f.Name, version, k.value, k.file, k.bytes)
	return err
}

// Delete deletes a function with all its versions and events.
func (s *Store) Delete(ctx context.Context, tenant, name string) error {
	var before, after int64
	err := s.change(ctx, func(tx *sql.Tx) (err error) {
		if _, before, err = measure(ctx, tx, tenant, "", execution.QuotaFunctions, execution.QuotaDeliveries); err != nil {
			return err
		}
		for _, query := range []string{
			"DELETE FROM versions WHERE tenant = ? AND name = ?", "DELETE FROM events WHERE tenant = ? AND name = ?",
		} {
			if _, err := tx.ExecContext(ctx, query, tenant, name); err != nil {
				return err
			}
		}
		res, err := tx.ExecContext(ctx, "DELETE FROM functions WHERE tenant = ? AND name = ?", tenant, name)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(execution.ErrNotFound, err)
		}
		_, after, err = measure(ctx, tx, tenant, "", execution.QuotaFunctions, execution.QuotaDeliveries)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete function %q: %w", name, err)
	}
	_ = s.unlink(ctx) // the next Prune tries again
	s.deleted(ctx, before-after)
	return nil
}

func (s *Store) functions(ctx context.Context, query string, args ...any) (out []execution.SavedFunction, err error) {
	err = s.read(ctx, func() (err error) {
		out = nil
		rows, err := s.db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			f, err := scanFunction(rows)
			if err != nil {
				return err
			}
			out = append(out, f)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	return out, nil
}

func scanFunction(row interface{ Scan(...any) error }) (execution.SavedFunction, error) {
	var raw []byte
	var f execution.SavedFunction
	err := row.Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return f, execution.ErrNotFound
	}
	if err != nil {
		return f, fmt.Errorf("read a function: %w", err)
	}
	if err := share.Decode(raw, &f); err != nil {
		return f, unreadable("a function", err)
	}
	return f, nil
}
